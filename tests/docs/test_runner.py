"""The runner of the pages finds what is wrong on them, and mends only that."""

import pytest

from tests.support.document_play import complaints, play
from tests.support.documents import agrees, rewritten

STARTS = "<!-- play: starts 2026-06-01T09:00:10+00:00 -->\n\n"
MANIFEST = """```yaml
tenants:
  acme:
    targets: {shop: {url: "http://127.0.0.1:8123/"}}
    triggers: {job: {schedule: "* * * * *", zone: UTC, target: shop}}
```
<!-- play: file job.yaml -->

"""
UP = """```console
$ punctual up --manifest job.yaml
punctual 0.1.0: data in .punctual, tzdata 2026a
…
```

"""


def console(*lines: str) -> str:
    return "\n".join(("```console", *lines, "```", ""))


def differences(text: str) -> list[str]:
    """The lines that came and are not written, or the other way round."""
    found = complaints("page.md", STARTS + text)
    return [line for each in found for line in each.splitlines()[2:] if line[0] in "+-"]


WHY = "job for Mon 2026-06-01 09:01:00Z fired: sent 5 ms after its due time, and the target took it"


def ran(*after: str) -> str:
    return MANIFEST + UP + "<!-- play: until 2026-06-01T09:01:10+00:00 -->\n\n" + console(*after)


def test_page_that_is_true_has_no_complaint() -> None:
    text = ran(
        "$ punctual why job 2026-06-01T09:01",
        f"acme/{WHY} on attempt 1 with HTTP 200; no outcome was reported yet.",
    )
    assert differences(text) == []


def test_planted_wrong_output_is_found_at_its_block() -> None:
    text = ran("$ punctual why job 2026-06-01T09:01", f"acme/{WHY.replace('5 ms', '4 ms')}")
    (found,) = complaints("page.md", STARTS + text)
    assert found.splitlines()[0] == "--- page.md:19 says"
    assert "-acme/job for Mon 2026-06-01 09:01:00Z fired: sent 4 ms" in found
    assert "+acme/job for Mon 2026-06-01 09:01:00Z fired: sent 5 ms" in found


def test_planted_output_of_a_silent_command_is_found() -> None:
    assert differences(console("$ export WORD=one", "done")) == ["-done"]


def test_planted_wrong_answer_of_the_api_is_found() -> None:
    answer = "```http\nHTTP/1.1 401 Unauthorized\n…\n```\n"
    text = ran('$ curl -i "$PUNCTUAL_SERVER/v1/tenants"') + "\n"
    assert differences(text + answer) == []
    found = differences(text + answer.replace("401", "200"))
    assert found[0] == "-HTTP/1.1 200 Unauthorized"


def test_command_that_fails_where_none_is_announced_is_refused() -> None:
    (found,) = complaints("page.md", STARTS + console("$ punctual why job"))
    assert found.splitlines()[0] == "page.md:3: `punctual why job` ended with 1"


def test_command_that_succeeds_where_a_failure_is_announced_is_refused() -> None:
    text = "<!-- play: fails -->\n\n" + console("$ export WORD=one", "$ export WORD=two")
    (found,) = complaints("page.md", STARTS + text)
    assert found == "page.md:5: `export WORD=two` ended with 0"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("<!-- play: untill 2026-06-01T10:00:00Z -->\n", "is no cue", id="cue"),
        pytest.param(console("$ rm file"), "no such program", id="program"),
        pytest.param(console("$ curl -k x"), "no such option", id="option"),
        pytest.param(console("$ curl http://example.com/"), "only http", id="elsewhere"),
    ],
)
def test_page_with_what_nobody_plays_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        play(STARTS + text)


def test_block_that_begins_without_a_command_is_refused() -> None:
    with pytest.raises(AssertionError, match="line 4: a block of console begins"):
        play(STARTS + console("output", "$ punctual version"))


def test_rewriting_makes_a_page_true_and_leaves_the_rest() -> None:
    text = STARTS + ran("$ punctual why job 2026-06-01T09:01", "wrong") + "\nThe end.\n"
    wrong = [each for each in play(text) if not each.is_true]
    mended = rewritten(text, {each.block.line: each.actual for each in wrong})
    assert complaints("page.md", mended) == []
    assert mended.replace(f"acme/{WHY}", "wrong") == text.replace(
        "wrong", "wrong on attempt 1 with HTTP 200; no outcome was reported yet."
    )


def test_stand_in_of_a_token_means_the_token_in_later_commands() -> None:
    text = ran(
        "$ punctual token create --principal ci --grant read:acme --json",
        "{",
        '  "token": "pun_example-token-a",',
        "…",
        "$ PUNCTUAL_TOKEN=pun_example-token-a punctual triggers --tenant acme --json",
        "…",
    )
    assert differences(text) == []


@pytest.mark.parametrize(
    ("cue", "told"),
    [
        pytest.param("target 503", "503", id="answers with an error"),
        pytest.param("target 404", "Your endpoint refused acme/job", id="refuses"),
        pytest.param("target times out", "the last with timeout at", id="times out"),
        pytest.param("target is away", "connection refused", id="is away"),
        pytest.param("service stops", "is not decided: it was due 1 m 10 s ago", id="stopped"),
        pytest.param("service dies", "is not decided: it was due 1 m 10 s ago", id="died"),
    ],
)
def test_cue_sets_what_becomes_of_the_next_fire(cue: str, told: str) -> None:
    ahead = "<!-- play: until 2026-06-01T09:03:10+00:00 -->\n\n"
    text = ran("$ export WORD=one") + f"\n<!-- play: {cue} -->\n" + ahead
    (*_, played) = play(STARTS + text + console("$ punctual why job 2026-06-01T09:02"))
    assert told in played.actual


@pytest.mark.parametrize(
    ("written", "actual", "expected"),
    [
        pytest.param("a\nb\n", "a\nb\n", True, id="equal"),
        pytest.param("a\nb\n", "a\nb", True, id="last newline"),
        pytest.param("a\n…\nd\n", "a\nb\nc\nd\n", True, id="lines left out"),
        pytest.param("a\n  …\nd\n", "a\nb\nd\n", True, id="indented"),
        pytest.param("a\n…\nd\n", "a\nd\n", False, id="nothing to leave out"),
        pytest.param("a …\n", "a b\n", False, id="not part of a line"),
        pytest.param("a\n", "a\nb\n", False, id="more came"),
        pytest.param("a.c\n", "abc\n", False, id="no pattern"),
    ],
)
def test_ellipsis_stands_for_whole_lines(written: str, actual: str, expected: bool) -> None:
    assert agrees(written, actual) is expected
