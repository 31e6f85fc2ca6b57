"""The tables marked in docs/semantics.md, played on the real rules."""

import re
from collections.abc import Iterator

import pytest

from ports.changes import PauseTrigger, ResumeTrigger
from ports.records import FireRecord
from scheduling import compile_recurrence
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.vocabulary import Cause, Lane, MissedPolicy, OverlapPolicy, ResumeRule
from tests.scenarios.conftest import MakeService
from tests.support.definitions import TENANT, a_trigger
from tests.support.repository import ROOT
from tests.support.scripted_target import Answer
from tests.support.service import Service

DAY = "2026-03-02"
WORDS = {
    Cause.SKIPPED_BY_POLICY: "skipped",
    Cause.EXPIRED_PAST_HORIZON: "expired",
    Cause.PAUSED: "paused",
    Cause.OVERLAP: "overlap",
}


def table(mark: str) -> list[dict[str, str]]:
    """The rows of the table below the marked sentence, by the names of its columns."""
    text = (ROOT / "docs/semantics.md").read_text(encoding="utf-8")
    _, found, rest = text.partition(f"✓ {mark}")
    assert found, mark
    lines = re.search(r"(?:\|.*\n)+", rest)
    assert lines is not None
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def at(clock: str) -> str:
    """That time of the day of the tables."""
    return f"{DAY}T{clock}{':00' if clock.count(':') == 1 else ''}Z"


def fates(service: Service, clocks: list[str]) -> list[str]:
    """What became of each of these instants, in the tables' words."""
    rows = service.fires("job")
    return [_fate(row) for clock in clocks for row in _covering(rows, from_text(at(clock)))]


def _covering(rows: list[FireRecord], instant_us: int) -> Iterator[FireRecord]:
    for row in rows:
        if row.key.scheduled_us <= instant_us <= (row.through_us or row.key.scheduled_us):
            yield row


def _fate(row: FireRecord) -> str:
    if row.coalesced_into_us is not None:
        return f"into {to_text(row.coalesced_into_us)[11:16]}"
    if row.cause is not None:
        return WORDS[row.cause]
    return "catch-up" if row.lane is Lane.CATCH_UP else "on time"


def _instants(row: dict[str, str]) -> list[str]:
    return [name for name in row if re.fullmatch(r"\d\d:\d\d", name)]


def _word(row: dict[str, str], column: str) -> str:
    return row[column].strip("`")


MINUTES = table("Every minute, stopped at 10:00:30")
HALF_HOURS = table("Every half hour, stopped at 10:10")
OVERLAPS = table("Every minute, the run of 10:01")
PAUSES = table("Every minute, paused at 10:00:30")
NIGHTS = table("In America/New_York")


@pytest.mark.parametrize(
    ("row", "expression", "stopped", "back"),
    [
        *((row, "* * * * *", "10:00:30", "10:04:20") for row in MINUTES),
        *((row, "*/30 * * * *", "10:10", "12:10") for row in HALF_HOURS),
    ],
)
def test_missed_table_holds(
    row: dict[str, str], expression: str, stopped: str, back: str, make_service: MakeService
) -> None:
    service = make_service(at("10:00:10"))
    service.start()
    policy = MissedPolicy(_word(row, "policy"))
    service.apply(a_trigger("job", expression, missed_policy=policy))
    service.advance_to(at(stopped))
    service.stop()
    service.advance_to(at(back))
    service.start("next")
    service.advance_to(service.now_us + 30 * SECOND_US)
    assert fates(service, _instants(row)) == [row[name] for name in _instants(row)]


@pytest.mark.parametrize("row", OVERLAPS)
def test_overlap_table_holds(row: dict[str, str], make_service: MakeService) -> None:
    service = make_service(at("10:00:30"))
    service.start()
    first_us = from_text(at("10:01"))
    service.target.script = lambda fire: Answer(
        lasts_us=(210 if fire.key.scheduled_us == first_us else 5) * SECOND_US
    )
    policy = OverlapPolicy(_word(row, "policy"))
    service.apply(a_trigger("job", "* * * * *", overlap_policy=policy))
    service.advance_to(at("10:05:50"))
    starts = {
        receipt.fire.key.scheduled_us: to_text(receipt.at_us // SECOND_US * SECOND_US)[11:19]
        for receipt in service.target.receipts
    }
    found = [starts.get(from_text(at(clock)), *fates(service, [clock])) for clock in _instants(row)]
    assert found == [row[name] for name in _instants(row)]


@pytest.mark.parametrize("row", PAUSES)
def test_pause_table_holds(row: dict[str, str], make_service: MakeService) -> None:
    service = make_service(at("10:00:10"))
    service.start()
    service.apply(a_trigger("job", "* * * * *"))
    service.advance_to(at("10:00:30"))
    service.apply(PauseTrigger(tenant_id=TENANT, name="job"))
    service.advance_to(at("10:03:30"))
    rule = ResumeRule(_word(row, "resume with"))
    service.apply(ResumeTrigger(tenant_id=TENANT, name="job", rule=rule))
    service.advance_to(at("10:04:30"))
    assert fates(service, _instants(row)) == [row[name] for name in _instants(row)]


@pytest.mark.parametrize("row", NIGHTS)
def test_odd_nights_table_holds(row: dict[str, str]) -> None:
    recurrence = compile_recurrence(_word(row, "recurrence"), "America/New_York")
    expected = row["fires at"].split(", ")
    found = recurrence.between_us(from_text(row["after"]), from_text(expected[-1]), 10)
    assert [to_text(us) for us in found] == expected
