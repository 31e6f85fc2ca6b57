"""Nothing is declared in vain: log actions, named SQL, limits, words and indexes."""

from functools import cache
from pathlib import PurePosixPath

import pytest

from adapters.sqlite_database import named_sql
from tests.support.repository import repository_files, text_of
from tests.support.tidy_unused import unlogged_actions, unused_constants, unused_statements

ACTIONS = "ports/log_actions.py"
LITERAL = 'Action = Literal[\n    "kept",  # why\n    "lost",\n]\n'


@cache
def _modules(*, but: str) -> list[str]:
    """The product's modules: what only tests and benches use is not used."""
    paths = (
        path
        for path in repository_files()
        if path.suffix == ".py" and path.parts[0] not in ("tests", "bench") and str(path) != but
    )
    return [text for path in paths if (text := text_of(path)) is not None]


def _text(path: str) -> str:
    text = text_of(PurePosixPath(path))
    assert text is not None
    return text


def test_log_actions_are_all_logged() -> None:
    assert unlogged_actions(_text(ACTIONS), _modules(but=ACTIONS)) == []


def test_named_statements_are_all_used() -> None:
    assert unused_statements(named_sql(), _modules(but="")) == []


@pytest.mark.parametrize("path", ["scheduling/limits.py", "scheduling/vocabulary.py"])
def test_limits_and_sets_of_words_are_all_used(path: str) -> None:
    assert unused_constants(_text(path), _modules(but=path)) == []


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ('log.info("kept", name="lost")', ["lost"]),
        ('log.warning("kept" if ok else "lost")', []),
        ('log.info(\n    "lost",\n    n=1,\n)', ["kept"]),
        ('words = ["kept", "lost"]', ["kept", "lost"]),
    ],
    ids=["as_a_fact_only", "either", "over_lines", "no_call"],
)
def test_unlogged_actions_are_those_that_begin_no_log_call(
    module: str, expected: list[str]
) -> None:
    assert unlogged_actions(LITERAL, [module]) == expected


def test_unused_statements_are_those_that_no_text_names() -> None:
    module = 'a = sql["insert_a"]\n# "insert_b"\nc = sql[f"insert_{d}"]'
    assert unused_statements(["insert_a", "insert_b", "insert_c"], [module]) == [
        "insert_b",
        "insert_c",
    ]


def test_unused_constants_are_those_that_are_never_read() -> None:
    declared = "A_MAX: Final = 1\nB_MAX = 2\nC_MAX: Final = 3\nsmall = 4"
    module = "from limits import A_MAX, B_MAX\nimport limits\nx = A_MAX + limits.C_MAX"
    assert unused_constants(declared, [module]) == ["B_MAX"]
