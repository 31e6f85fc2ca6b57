"""What a request's body has to be before a model sees it: JSON, in bounds, and unambiguous."""

import json
import re
from typing import Final

from control_api.problems import ApiProblem
from scheduling.limits import BODY_DEPTH_MAX, BODY_VALUES_MAX

# Possessive, and a text without an end is taken to the body's end: no byte is looked at twice.
TEXTS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_OPEN: Final = frozenset(b"[{")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


def check_json(headers: dict[bytes, bytes], body: bytes) -> None:
    """ApiProblem for anything but one JSON text in UTF-8, declared as such."""
    content_type = headers.get(b"content-type", b"").decode("latin-1")
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise ApiProblem(415, "not_json", "Content-Type: send JSON as application/json")
    # A key and a value have two quotes each; what has more of them is not even taken apart.
    if body.count(b'"') - body.count(b'\\"') > 4 * BODY_VALUES_MAX:
        raise _too_many_values()
    _check_skeleton(TEXTS.sub(b"", body))
    try:
        found = json.loads(
            body.decode(), parse_constant=_refused_constant, object_pairs_hook=_unique_keys
        )
    except UnicodeDecodeError:
        raise ApiProblem(400, "not_json", "the body is not JSON: send it in UTF-8") from None
    except (ValueError, RecursionError) as error:
        detail = f"the body is not JSON: {str(error)[:80]}"
        raise ApiProblem(400, "not_json", detail) from None
    if _SURROGATE.search(body):
        _check_whole(found)


def _check_skeleton(body: bytes) -> None:
    """A body without its texts, before any parser recurses into it or makes a thing of each value.

    The values are counted by what stands before each: a bracket or a comma.
    """
    if body.count(b",") + body.count(b"[") + body.count(b"{") > BODY_VALUES_MAX:
        raise _too_many_values()
    depth = 0
    for byte in body.translate(None, delete=_NO_BRACKETS):
        depth += 1 if byte in _OPEN else -1
        if depth > BODY_DEPTH_MAX:
            detail = f"the body: at most {BODY_DEPTH_MAX} levels of nesting"
            raise ApiProblem(422, "too_deep", detail)


def _too_many_values() -> ApiProblem:
    detail = f"the body: at most {BODY_VALUES_MAX:,} values: send it in parts"
    return ApiProblem(422, "too_many_values", detail)


def _check_whole(found: object) -> None:
    """Half a character can stand in a JSON text, and in nothing that the text is written to."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        detail = "the body: a text has half of a surrogate pair: send whole characters"
        raise ApiProblem(422, "half_character", detail) from None


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refused_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
