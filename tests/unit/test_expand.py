"""Range rows as the instants they stand for."""

from dataclasses import replace
from typing import Any

import pytest

from control_api.answers.expand import expand, rules_of
from ports.records import FireRecord
from scheduling.errors import InvalidRecurrence
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.keys import FireKey
from scheduling.rules import Rules
from scheduling.versions import recurrence_of
from scheduling.vocabulary import Cause, FireState, Lane, Origin
from tests.support.definitions import a_definition

FIRST_US = from_text("2026-06-01T09:04:00Z")
LAST_US = from_text("2026-06-01T09:39:00Z")
ROW = FireRecord(
    key=FireKey("acme", "t1", FIRST_US),
    trigger_name="minutely",
    version=1,
    origin=Origin.SCHED,
    lane=Lane.ON_TIME,
    state=FireState.NOT_DISPATCHED,
    cause=Cause.COALESCED,
    cause_detail=None,
    held_reason=None,
    not_before_us=None,
    due_us=FIRST_US,
    decided_us=LAST_US,
    committed_us=LAST_US,
    queued_us=None,
    first_dispatched_us=None,
    next_attempt_n=1,
    attempts=0,
    outcome_cause=None,
    coalesced_into_us=None,
    through_us=LAST_US,
    instant_count=36,
    tzdata_version="2026a",
    changed_us=LAST_US,
)


def some_rules(**changes: Any) -> Rules | None:
    return rules_of(a_definition(**changes), ("acme", "t1", 1), name="minutely")


def times(rules: Rules | None, **bounds: Any) -> list[str]:
    window = {"limit": 1_000, "from_us": None, "through_us": None} | bounds
    return [to_text(row.key.scheduled_us)[11:16] for row in expand(ROW, rules, **window)]


def test_expand_shows_every_instant_newest_first() -> None:
    found = times(some_rules())
    assert (len(found), found[0], found[-1]) == (36, "09:39", "09:04")


def test_expand_stops_at_its_limit() -> None:
    assert times(some_rules(), limit=2) == ["09:39", "09:38"]


def test_expand_keeps_to_the_window_both_ends_included() -> None:
    window = {
        "from_us": from_text("2026-06-01T09:10:00Z"),
        "through_us": from_text("2026-06-01T09:11:00Z"),
    }
    assert times(some_rules(), **window) == ["09:11", "09:10"]


def test_expand_gives_each_instant_its_own_due_time() -> None:
    rules = some_rules(smear_s=30)
    rows = list(expand(ROW, rules, limit=36, from_us=None, through_us=None))
    delays_us = {row.due_us - row.key.scheduled_us for row in rows}
    assert len(delays_us) > 30
    assert all(0 <= delay_us < 30 * SECOND_US for delay_us in delays_us)
    assert {(row.instant_count, row.through_us) for row in rows} == {(1, None)}


@pytest.mark.parametrize(
    "changes", [{"through_us": None, "instant_count": 1}, {"instant_count": 0}], ids=["one", "none"]
)
def test_expand_of_what_is_no_range_gives_it_back(changes: dict[str, Any]) -> None:
    row = replace(ROW, **changes)
    assert list(expand(row, some_rules(), limit=5, from_us=None, through_us=None)) == [row]


def test_expand_without_a_rule_gives_the_range_back() -> None:
    assert list(expand(ROW, None, limit=5, from_us=None, through_us=None)) == [ROW]


def test_rules_of_a_definition_that_does_not_compile_are_none() -> None:
    assert some_rules(zone="Nowhere/Land") is None
    with pytest.raises(InvalidRecurrence):
        recurrence_of(a_definition(zone="Nowhere/Land"), tenant_id="acme", name="x")


def test_recurrence_of_a_definition_has_its_window_exclusions_and_identity() -> None:
    definition = a_definition(
        "H 9 * * *",
        "30 10 * * *",
        starts_us=from_text("2026-06-02T00:00:00Z"),
        ends_us=from_text("2026-06-04T23:00:00Z"),
        exclusions=("2026-06-03",),
    )
    recurrence = recurrence_of(definition, tenant_id="acme", name="x")
    found = recurrence.between_us(0, from_text("2030-01-01T00:00:00Z"), 100)
    assert sorted({to_text(us)[:10] for us in found}) == ["2026-06-02", "2026-06-04"]
    assert len(found) == 4
