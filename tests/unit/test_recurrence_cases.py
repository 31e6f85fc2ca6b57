"""The worked cases of tests/cases/cron.jsonl: each row is one test."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from scheduling import InvalidRecurrence, compile_recurrence

CASES = Path(__file__).resolve().parents[1] / "cases" / "cron.jsonl"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()
]
# The two expressions that cannot stand in a file as they are.
ENORMOUS = {"'9'*1000000+' * * * *'": "9" * 1_000_000 + " * * * *"}


def _expression(row: dict[str, Any]) -> str:
    text = row["expr"]
    return ENORMOUS[row["expr_py"]] if text is None else str(text)


def _instants(row: dict[str, Any]) -> list[str]:
    recurrence = compile_recurrence(_expression(row), row["zone"])
    instant: datetime | None = datetime.fromisoformat(row["start"])
    found = []
    for _ in row["expected"] or [None]:
        assert instant is not None
        instant = recurrence.next_after(instant)
        assert instant is not None
        found.append(instant.isoformat().replace("+00:00", "Z"))
    return found


def test_cases_file_holds_all_rows() -> None:
    assert len(ROWS) == 487
    assert len({row["id"] for row in ROWS}) == 487


@pytest.mark.parametrize("row", [row for row in ROWS if row["expected"]], ids=lambda row: row["id"])
def test_case_with_instants_gives_them(row: dict[str, Any]) -> None:
    assert _instants(row) == row["expected"]


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row["expected"]], ids=lambda row: row["id"]
)
def test_case_without_instants_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        compile_recurrence(_expression(row), row["zone"])
    assert caught.value.field
    assert len(caught.value.item) <= 40
