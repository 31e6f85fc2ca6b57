"""A request's body before any model sees it."""

import pytest

from control_api.bodies import TEXTS, check_json
from control_api.problems import ApiProblem
from scheduling.limits import BODY_DEPTH_MAX

JSON = {b"content-type": b"application/json"}


def refusal(body: bytes) -> int | None:
    """The status of the refusal; None where the body is taken."""
    try:
        check_json(JSON, body)
    except ApiProblem as problem:
        return problem.status
    return None


@pytest.mark.parametrize("count", [10, 1_000, 100_000])
def test_body_whose_text_never_ends_is_looked_through_once(count: int) -> None:
    body = b'"' + b'\\"' * count
    assert [match.end() for match in TEXTS.finditer(body)] == [len(body)]
    assert refusal(body) == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * (BODY_DEPTH_MAX + 1), 422),
        (b'{"a": "' + b"[" * 1_000 + b'"}', None),
        (b'{"a": "\\"' + b"[" * 1_000 + b'"}', None),
        (b'"' + b"[" * (BODY_DEPTH_MAX + 1), 400),
        (b'["\\', 400),
        (b"[" * BODY_DEPTH_MAX + b"]" * BODY_DEPTH_MAX, None),
        (("[" * 900 + "]" * 900).encode("utf-16"), 422),
    ],
    ids=["deep", "text", "escaped", "open-text", "half-escape", "at-the-limit", "utf-16"],
)
def test_body_depth_counts_brackets_outside_of_texts(body: bytes, status: int | None) -> None:
    assert refusal(body) == status
