"""What is due next: of one trigger by its spans, of a tenant merged by due time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.sqlite_database import SqliteDatabase
from control_api.answers.upcoming import (
    UpcomingAnswer,
    upcoming_instants,
    upcoming_of_tenant,
    upcoming_of_trigger,
)
from ports.changes import PauseTrigger, ResumeTrigger
from ports.records import TriggerRecord
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.rules import Rules, Span, due_of
from scheduling.vocabulary import MissedPolicy, OverlapPolicy, SpanKind, TriggerState
from tests.support.definitions import TENANT, a_tenant, a_trigger
from tests.support.enumerators import PeriodEnumerator
from tests.support.service import Service

START = "2026-06-01T09:00:10Z"
MINUTE_US = 60 * SECOND_US


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    found = Service(tmp_path, from_text(START))
    yield found
    found.close()


def a_record(**changes: Any) -> TriggerRecord:
    facts: dict[str, Any] = {
        "tenant_id": TENANT,
        "trigger_id": "t1",
        "name": "job",
        "state": TriggerState.LIVE,
        "version": 1,
        "revision": 1,
        "partition_id": 0,
        "pause_note": None,
        "quarantine_error": None,
        "decided_through_us": 0,
        "next_due_us": MINUTE_US,
        "fired_count": 0,
        "created_us": 0,
    }
    return TriggerRecord(**{**facts, **changes})


def the_rules(**changes: Any) -> Rules:
    facts: dict[str, Any] = {
        "tenant_id": TENANT,
        "trigger_id": "t1",
        "version": 1,
        "recurrence": PeriodEnumerator(MINUTE_US),
        "missed_policy": MissedPolicy.SKIP,
        "overlap_policy": OverlapPolicy.ALLOW,
        "horizon_us": 0,
        "horizon_source": "default",
    }
    return Rules(**{**facts, **changes})


def minutes(trigger: TriggerRecord, spans: list[Span], count: int, **changes: Any) -> list[int]:
    rules = {
        1: the_rules(**changes),
        2: the_rules(version=2, recurrence=PeriodEnumerator(7 * MINUTE_US)),
    }
    walk = upcoming_instants(trigger, spans, rules, from_us=0)
    return [each.instant_us // MINUTE_US for each, _ in zip(walk, range(count), strict=False)]


def test_live_trigger_goes_on_from_its_cursor() -> None:
    spans = [Span(0, SpanKind.LIVE, 1)]
    assert minutes(a_record(), spans, 3) == [1, 2, 3]
    assert minutes(a_record(decided_through_us=5 * MINUTE_US), spans, 3) == [6, 7, 8]


def test_open_pause_ends_the_walk() -> None:
    spans = [Span(0, SpanKind.LIVE, 1), Span(3 * MINUTE_US, SpanKind.PAUSED, 1)]
    assert minutes(a_record(), spans, 10) == [1, 2, 3]


def test_closed_pause_is_left_out_and_the_new_version_follows() -> None:
    spans = [
        Span(0, SpanKind.LIVE, 1),
        Span(2 * MINUTE_US, SpanKind.PAUSED, 1),
        Span(10 * MINUTE_US, SpanKind.LIVE, 2),
    ]
    assert minutes(a_record(), spans, 4) == [1, 2, 14, 21]


@pytest.mark.parametrize(("fired", "expected"), [(0, [1, 2, 3]), (2, [1]), (3, []), (9, [])])
def test_max_fires_bounds_what_is_ahead(fired: int, expected: list[int]) -> None:
    spans = [Span(0, SpanKind.LIVE, 1)]
    assert minutes(a_record(fired_count=fired), spans, 10, max_fires=3) == expected


def test_fires_before_the_start_count_towards_max_fires() -> None:
    rules = {1: the_rules(max_fires=10)}
    walk = upcoming_instants(a_record(), [Span(0, SpanKind.LIVE, 1)], rules, from_us=8 * MINUTE_US)
    assert [each.instant_us // MINUTE_US for each in walk] == [9, 10]


def test_smeared_instant_before_the_start_that_is_due_after_it_is_told() -> None:
    rules = the_rules(smear_us=50 * SECOND_US)
    first_due_us = due_of(rules, MINUTE_US)
    assert first_due_us > MINUTE_US
    walk = upcoming_instants(
        a_record(), [Span(0, SpanKind.LIVE, 1)], {1: rules}, from_us=first_due_us - 1
    )
    first = next(walk)
    assert (first.instant_us, first.due_us) == (MINUTE_US, first_due_us)
    later = upcoming_instants(
        a_record(), [Span(0, SpanKind.LIVE, 1)], {1: rules}, from_us=first_due_us
    )
    assert next(later).instant_us == 2 * MINUTE_US


def of_trigger(service: Service, name: str, **changes: Any) -> UpcomingAnswer:
    (trigger,) = service.store.registry.find_triggers(name)
    facts = {"from_us": service.now_us, "count": 2, **changes}
    return upcoming_of_trigger(service.store.registry, trigger, **facts)


def texts(answer: UpcomingAnswer) -> list[tuple[str, str]]:
    return [(each.name, to_text(each.due_us)) for each in answer.instants]


def test_stored_trigger_tells_its_next_instants(service: Service) -> None:
    service.apply(a_trigger("berlin", "0 9 * * *", zone="Europe/Berlin"))
    answer = of_trigger(service, "berlin")
    assert texts(answer) == [
        ("berlin", "2026-06-02T07:00:00Z"),
        ("berlin", "2026-06-03T07:00:00Z"),
    ]
    assert (answer.reason, answer.is_complete) == (None, True)


def test_from_moves_the_start(service: Service) -> None:
    service.apply(a_trigger("job", "0 9 * * *"))
    answer = of_trigger(service, "job", from_us=from_text("2026-07-01T09:00:00Z"), count=1)
    assert texts(answer) == [("job", "2026-07-02T09:00:00Z")]


def test_paused_trigger_has_none_and_says_so(service: Service) -> None:
    service.apply(a_trigger("job"))
    service.apply(PauseTrigger(tenant_id=TENANT, name="job", note="price change"))
    answer = of_trigger(service, "job")
    assert answer == UpcomingAnswer((), "paused (price change): nothing is due until it is resumed")
    service.advance_to("2026-06-01T10:00:10Z")
    service.apply(ResumeTrigger(tenant_id=TENANT, name="job"))
    assert texts(of_trigger(service, "job"))[0] == ("job", "2026-06-01T10:01:00Z")


def test_finished_trigger_has_none_and_says_so(service: Service) -> None:
    service.apply(a_trigger("job", max_fires=1))
    service.start()
    service.advance_to("2026-06-01T09:02:00Z")
    assert of_trigger(service, "job") == UpcomingAnswer((), "finished: nothing lies ahead")


def test_rule_that_cannot_be_evaluated_has_none_and_says_so(service: Service) -> None:
    service.apply(a_trigger("job"))
    database = SqliteDatabase(service.folder / "store.db", synchronous="OFF")
    with database.write() as connection:
        connection.execute("UPDATE trigger_version SET zone = 'Mars/Olympus'")
    database.close()
    assert of_trigger(service, "job") == UpcomingAnswer(
        (), "its rule cannot be evaluated: it is about to be quarantined"
    )


def test_tenant_is_merged_by_due_time(service: Service) -> None:
    service.apply(
        a_trigger("five", "*/5 * * * *"),
        a_trigger("two", "*/2 * * * *"),
        a_trigger("late", "0 10 * * *"),
        a_trigger("paused", "* * * * *"),
    )
    service.apply(PauseTrigger(tenant_id=TENANT, name="paused"))
    service.apply(a_tenant("beta"))
    answer = upcoming_of_tenant(
        service.store.registry, service.store.history, TENANT, now_us=service.now_us, count=5
    )
    assert texts(answer) == [
        ("two", "2026-06-01T09:02:00Z"),
        ("two", "2026-06-01T09:04:00Z"),
        ("five", "2026-06-01T09:05:00Z"),
        ("two", "2026-06-01T09:06:00Z"),
        ("two", "2026-06-01T09:08:00Z"),
    ]
    none = upcoming_of_tenant(
        service.store.registry, service.store.history, "beta", now_us=service.now_us, count=5
    )
    assert none == UpcomingAnswer(())


def test_tenant_through_a_time_has_no_more_than_that(service: Service) -> None:
    service.apply(a_trigger("two", "*/2 * * * *"), a_trigger("late", "0 10 * * *"))
    answer = upcoming_of_tenant(
        service.store.registry,
        service.store.history,
        TENANT,
        now_us=service.now_us,
        count=50,
        through_us=from_text("2026-06-01T09:05:00Z"),
    )
    assert texts(answer) == [("two", "2026-06-01T09:02:00Z"), ("two", "2026-06-01T09:04:00Z")]


def test_tenant_with_more_triggers_than_are_merged_tells_what_is_certain(
    service: Service,
) -> None:
    for minute in range(1, 7):
        service.apply(a_trigger(f"at-{minute}", f"{minute}/2 9 * * *"))
    answer = upcoming_of_tenant(
        service.store.registry,
        service.store.history,
        TENANT,
        now_us=service.now_us,
        count=50,
        triggers_max=3,
    )
    # The third is due at 09:03 for the first time; what comes later may be another's.
    assert {due for _, due in texts(answer)} == {
        "2026-06-01T09:01:00Z",
        "2026-06-01T09:02:00Z",
        "2026-06-01T09:03:00Z",
    }
    assert answer.is_complete is False


def test_tenant_walk_equals_the_walks_of_its_triggers(service: Service) -> None:
    for number in range(12):
        smear_s = number % 3 * 30
        service.apply(a_trigger(f"t{number}", f"*/{number + 2} * * * *", smear_s=smear_s))
    service.advance_to("2026-06-01T09:10:00Z")  # nothing decides, so all are overdue
    answer = upcoming_of_tenant(
        service.store.registry, service.store.history, TENANT, now_us=service.now_us, count=100
    )
    each = [of_trigger(service, f"t{number}", count=100).instants for number in range(12)]
    assert list(answer.instants) == sorted(one for walk in each for one in walk)[:100]
