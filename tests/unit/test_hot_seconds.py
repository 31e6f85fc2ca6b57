"""The busiest seconds of the next day: counted, smeared, crowded, and flattened."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from control_api.answers.hot_load import HotBounds, HotLoad
from control_api.answers.hot_seconds import (
    Crowd,
    HotSeconds,
    Subject,
    hot_seconds,
    live_subjects,
)
from control_api.answers.smear_advice import SmearAdvice
from ports.changes import PauseTrigger
from ports.records import TriggerRecord
from scheduling import compile_recurrence
from scheduling.instants import SECOND_US, from_text, to_text
from scheduling.rules import Enumerator, Rules, due_of
from scheduling.vocabulary import MissedPolicy, OverlapPolicy, TriggerState
from tests.support.definitions import TENANT, a_target, a_tenant, a_trigger
from tests.support.enumerators import BrokenEnumerator, ListEnumerator
from tests.support.service import Service

NOW = "2026-06-01T09:00:10Z"
NOW_US = from_text(NOW)
DAY_S = 86_400


def a_subject(
    name: str,
    recurrence: Enumerator | str,
    *,
    zone: str = "UTC",
    smear_s: int = 0,
    **changes: Any,
) -> Subject:
    if isinstance(recurrence, str):
        recurrence = compile_recurrence(recurrence, zone, identity=(TENANT, name))
    trigger = TriggerRecord(
        tenant_id=TENANT,
        trigger_id=f"id-{name}",
        name=name,
        state=TriggerState.LIVE,
        version=1,
        revision=1,
        partition_id=0,
        pause_note=None,
        quarantine_error=None,
        decided_through_us=changes.pop("cursor_us", NOW_US - 3_600 * SECOND_US),
        next_due_us=None,
        fired_count=changes.pop("fired_count", 0),
        created_us=0,
    )
    rules = Rules(
        tenant_id=TENANT,
        trigger_id=f"id-{name}",
        version=1,
        recurrence=recurrence,
        missed_policy=MissedPolicy.SKIP,
        overlap_policy=OverlapPolicy.ALLOW,
        horizon_us=0,
        horizon_source="default",
        smear_us=smear_s * SECOND_US,
        **changes,
    )
    return Subject(trigger, rules)


def many(count: int, expression: str, **changes: Any) -> list[Subject]:
    prefix = changes.pop("prefix", "t")
    return [a_subject(f"{prefix}{number}", expression, **changes) for number in range(count)]


def counted(
    subjects: list[Subject], *, window_s: int = DAY_S, smear_s: int | None = None
) -> Counter[int]:
    """One instant after another by the production due time, however slow."""
    found: Counter[int] = Counter()
    for trigger, rules in subjects:
        assert rules is not None
        end_us = NOW_US + window_s * SECOND_US
        if smear_s is not None:
            rules = Rules(
                **{
                    name: getattr(rules, name)
                    for name in Rules.__dataclass_fields__
                    if name != "smear_us"
                },
                smear_us=smear_s * SECOND_US,
            )
        first_us = NOW_US - rules.smear_us
        left = None if rules.max_fires is None else rules.max_fires - trigger.fired_count
        for instant_us in rules.recurrence.between_us(first_us - 1, end_us - 1, 1_000_000):
            due_us = due_of(rules, instant_us)
            if NOW_US <= due_us < end_us and left != 0:
                found[(due_us - NOW_US) // SECOND_US] += 1
    return found


def at(second: int) -> str:
    return to_text(NOW_US + second * SECOND_US)


def peaks(found: HotSeconds) -> list[tuple[str, int]]:
    return [(to_text(each.at_us), each.count) for each in found.before]


def test_busiest_seconds_come_first_with_who_crowds_them() -> None:
    subjects = [
        *many(5, "0 * * * *", prefix="hourly"),
        *many(3, "30 2 * * *", prefix="berlin", zone="Europe/Berlin"),
        *many(2, "0 12 * * *", prefix="noon"),
        a_subject("alone", "at 2026-06-01T20:15"),
    ]
    found = hot_seconds(subjects, now_us=NOW_US, seconds_shown=3)
    assert (found.triggers, found.instants, found.unreadable) == (11, 5 * 24 + 3 + 2 + 1, 0)
    assert peaks(found) == [
        ("2026-06-01T12:00:00Z", 7),
        ("2026-06-01T10:00:00Z", 5),
        ("2026-06-01T11:00:00Z", 5),
    ]
    assert found.before[0].crowds == (
        Crowd(("0 * * * *",), "UTC", 5, ("acme/hourly0", "acme/hourly1", "acme/hourly2")),
        Crowd(("0 12 * * *",), "UTC", 2, ("acme/noon0", "acme/noon1")),
    )
    assert found.before == found.after
    assert (to_text(found.from_us), to_text(found.until_us)) == (NOW, "2026-06-02T09:00:10Z")
    assert found.is_complete


def test_counts_equal_one_instant_after_another() -> None:
    subjects = [
        *many(20, "* * * * *", prefix="plain"),
        *many(20, "*/5 * * * *", prefix="smeared", smear_s=45),
        *many(10, "H H * * *", prefix="hashed", zone="America/New_York"),
        *many(3, "* * * * *", prefix="few", max_fires=7, fired_count=2),
        a_subject("union", ListEnumerator([NOW_US, NOW_US + 5 * SECOND_US, NOW_US + 10**15])),
    ]
    load = HotLoad(NOW_US, DAY_S)
    for trigger, rules in subjects:
        assert rules is not None
        left = None if rules.max_fires is None else rules.max_fires - trigger.fired_count
        load.add(trigger.name, rules, fires_left=left)
    unlimited = [each for each in subjects if each.rules and each.rules.max_fires is None]
    few = Counter({50 + 60 * minute: 3 for minute in range(5)})
    assert load.after() == counted(unlimited) + few
    assert load.before() == counted(unlimited, smear_s=0) + few


def test_fire_smeared_from_before_the_window_into_it_is_counted_after_smear_alone() -> None:
    # The hour's instant lies ten seconds back; which triggers are still to come, the hash says.
    subjects = many(100, "0 * * * *", smear_s=60)
    found = hot_seconds(subjects, now_us=NOW_US, window_s=120, seconds_shown=100)
    expected = counted(subjects, window_s=120)
    assert 0 < expected.total() < 100
    assert {each.at_us: each.count for each in found.after} == {
        NOW_US + second * SECOND_US: count for second, count in expected.items()
    }
    assert found.before == ()


def test_smeared_trigger_is_named_where_it_is_due() -> None:
    (subject,) = many(1, "0 12 * * *", smear_s=600)
    found = hot_seconds([subject], now_us=NOW_US)
    ((second, count),) = counted([subject]).items()
    (hot,) = found.after
    assert (to_text(hot.at_us), hot.count) == (at(second), count)
    assert hot.crowds == (Crowd(("0 12 * * *",), "UTC", 1, ("acme/t0",)),)


@pytest.mark.parametrize("smear_s", [0, 5], ids=["plain", "smeared"])
def test_what_is_decided_already_is_not_counted(smear_s: int) -> None:
    cursor_us = from_text("2026-06-01T09:02:00Z")  # a clock ran ahead
    (ahead,) = many(1, "* * * * *", cursor_us=cursor_us, smear_s=smear_s)
    found = hot_seconds([ahead], now_us=NOW_US, window_s=300)
    minutes = [to_text(each.at_us)[:16] for each in found.after]
    assert minutes == ["2026-06-01T09:03", "2026-06-01T09:04", "2026-06-01T09:05"]
    assert len(found.before) == 3


def test_now_itself_counts_and_the_end_does_not() -> None:
    ends = [NOW_US - SECOND_US, NOW_US, NOW_US + 59 * SECOND_US, NOW_US + 60 * SECOND_US]
    found = hot_seconds([a_subject("job", ListEnumerator(ends))], now_us=NOW_US, window_s=60)
    assert [to_text(each.at_us) for each in found.before] == [at(0), at(59)]


@pytest.mark.parametrize("smear_s", [0, 30], ids=["plain", "smeared"])
def test_trigger_without_an_instant_in_the_window_counts_as_one(smear_s: int) -> None:
    found = hot_seconds(many(1, "0 12 2 2 *", smear_s=smear_s), now_us=NOW_US)
    assert (found.triggers, found.instants, found.after) == (1, 0, ())


def test_rule_that_raises_or_is_gone_is_counted_as_unreadable() -> None:
    broken = a_subject("broken", BrokenEnumerator())
    gone = broken._replace(rules=None)
    found = hot_seconds([broken, gone, a_subject("job", "0 12 * * *")], now_us=NOW_US)
    assert (found.triggers, found.unreadable, found.is_complete) == (1, 2, True)


def test_nothing_live_is_an_empty_forecast() -> None:
    found = hot_seconds([], now_us=NOW_US)
    assert (found.triggers, found.before, found.after) == (0, (), ())
    assert found.advice == SmearAdvice(0, 0, 0)


def test_more_triggers_than_allowed_are_left_out_and_said() -> None:
    found = hot_seconds(many(5, "0 12 * * *"), now_us=NOW_US, bounds=HotBounds(triggers=3))
    assert (found.triggers, found.before[0].count, found.is_complete) == (3, 3, False)


@pytest.mark.parametrize("smear_s", [0, 30], ids=["plain", "smeared"])
def test_too_many_instants_shorten_the_window_and_leave_it_complete(smear_s: int) -> None:
    # Every other trigger has a schedule of its own, so that nothing is shared.
    subjects = [
        a_subject(f"t{number}", f"{number}-59 * * * *", smear_s=smear_s) for number in range(40)
    ]
    load = HotLoad(NOW_US, DAY_S, HotBounds(instants=10_000, smeared=10_000))
    for trigger, rules in subjects:
        assert rules is not None
        load.add(trigger.name, rules)
    assert load.window_s == 21_600  # 39,000 a day, halved twice
    assert load.after() == counted(subjects, window_s=load.window_s)
    assert load.before() == counted(subjects, window_s=load.window_s, smear_s=0)


def test_shortened_window_is_told() -> None:
    found = hot_seconds(many(2, "* * * * *"), now_us=NOW_US, bounds=HotBounds(instants=100))
    assert (found.until_us - found.from_us, found.is_complete) == (5_400 * SECOND_US, False)


def test_smear_that_is_advised_brings_the_real_peak_under_the_level() -> None:
    subjects = [
        *many(600, "0 * * * *", prefix="hourly"),
        *many(300, "*/5 * * * *", prefix="five"),
        *many(50, "* * * * *", prefix="minutely"),
    ]
    found = hot_seconds(subjects, now_us=NOW_US, level=40, window_s=2 * 3_600)
    assert found.after[0].count == 950
    assert found.advice.level == 40
    assert found.advice.smear_s is not None
    smeared = counted(subjects, window_s=2 * 3_600, smear_s=found.advice.smear_s)
    assert max(smeared.values()) <= found.advice.expected <= 40
    half = counted(subjects, window_s=2 * 3_600, smear_s=found.advice.smear_s // 2)
    assert max(half.values()) > 40


@pytest.mark.parametrize("count", [10, 20, 100])
@pytest.mark.parametrize("level", [1, 2, None])
def test_advice_is_kept_in_many_worlds(count: int, level: int | None) -> None:
    """The real peak, by the production due time, whatever the triggers' ids hash to."""
    for world in range(15):
        subjects = many(count, "0 12 * * *", prefix=f"world{world}-")
        advice = hot_seconds(subjects, now_us=NOW_US, window_s=4 * 3_600, level=level).advice
        assert advice.level == (level or -(-count // 10))
        assert advice.smear_s is not None
        real = max(counted(subjects, window_s=4 * 3_600, smear_s=advice.smear_s).values())
        assert real == advice.expected <= advice.level


@pytest.mark.parametrize("level", [3, 5, None])
def test_advice_is_kept_where_smears_of_two_crowds_meet(level: int | None) -> None:
    # Those of minute 59 reach into the next hour, which another hundred begin.
    for world in range(10):
        subjects = [
            *many(100, "0 * * * *", prefix=f"full{world}-"),
            *many(100, "59 * * * *", prefix=f"late{world}-"),
            *many(5, "* * * * *", prefix=f"own{world}-", smear_s=40),
        ]
        found = hot_seconds(subjects, now_us=NOW_US, window_s=4 * 3_600, level=level)
        advice = found.advice
        assert advice.level == (level or -(-found.after[0].count // 10))
        assert advice.smear_s is not None
        longer = [
            each._replace(
                rules=replace(each.rules, smear_us=max(smear, advice.smear_s) * SECOND_US)
            )
            for each in subjects
            if each.rules
            for smear in [each.rules.smear_us // SECOND_US]
        ]
        real = max(counted(longer, window_s=4 * 3_600).values())
        assert real == advice.expected <= advice.level


@pytest.mark.parametrize("level", [100, 1_000], ids=["at", "under"])
def test_level_that_the_peak_does_not_exceed_needs_no_smear(level: int) -> None:
    found = hot_seconds(many(100, "0 12 * * *"), now_us=NOW_US, level=level)
    assert found.advice == SmearAdvice(level, 0, 100)


def test_level_that_no_smear_reaches_says_what_was_counted_at_best() -> None:
    # A minutely trigger spreads over its minute and no further: 120 of them are 2 a second.
    subjects = many(120, "* * * * *")
    found = hot_seconds(subjects, now_us=NOW_US, window_s=3_600, level=1)
    real = max(counted(subjects, window_s=3_600, smear_s=3_600).values())
    assert found.advice == SmearAdvice(1, None, real)
    assert real > 2


def test_level_that_luck_alone_could_reach_is_sought_in_every_smear() -> None:
    # 250 fires in 3,600 seconds without two in one: no chance to speak of, and none was found.
    subjects = many(250, "0 12 * * *")
    found = hot_seconds(subjects, now_us=NOW_US, window_s=4 * 3_600, level=1)
    assert found.advice == SmearAdvice(1, None, 2)


def test_without_a_level_a_tenth_of_the_peak_is_sought_or_what_is_possible() -> None:
    day = hot_seconds(many(1_000, "0 12 * * *"), now_us=NOW_US)
    assert day.advice.level == 100
    assert day.advice.smear_s is not None
    assert day.advice.expected <= 100
    # Every five seconds: a fifth of 100 is the mean, and a tenth is out of reach.
    often = many(100, "*/5 * * * * *")
    advice = hot_seconds(often, now_us=NOW_US, window_s=600).advice
    real = {each: max(counted(often, window_s=600, smear_s=each).values()) for each in (4, 5)}
    assert advice == SmearAdvice(real[5], 5, real[5])
    assert 20 < real[5] < real[4]


def test_smear_of_its_own_is_kept_by_the_advice() -> None:
    found = hot_seconds(many(400, "0 12 * * *", smear_s=3_600), now_us=NOW_US)
    assert found.after[0].count < 10
    assert found.advice == SmearAdvice(found.after[0].count, 0, found.after[0].count)


def test_what_is_decided_or_no_longer_allowed_is_not_smeared_either() -> None:
    noon_us = from_text("2026-06-01T12:00:00Z")
    subjects = [
        *many(20, "0 12 * * *", prefix="live"),
        *many(500, "0 12 * * *", prefix="decided", cursor_us=noon_us),
        *many(500, "0 12 * * *", prefix="ended", max_fires=3, fired_count=3),
    ]
    advice = hot_seconds(subjects, now_us=NOW_US, level=2).advice
    assert advice == hot_seconds(subjects[:20], now_us=NOW_US, level=2).advice
    assert advice.smear_s is not None
    assert max(counted(subjects[:20], smear_s=advice.smear_s).values()) <= 2


def test_too_much_to_smear_is_counted_around_the_busiest_second_and_said() -> None:
    subjects = [*many(50, "*/10 * * * *", prefix="often"), *many(50, "0 20 * * *", prefix="noon")]
    found = hot_seconds(subjects, now_us=NOW_US, level=10, bounds=HotBounds(advised=600))
    assert found.is_complete
    assert not found.advice.is_complete
    assert found.advice.smear_s is not None
    real = counted(subjects, smear_s=found.advice.smear_s)
    first = (from_text("2026-06-01T20:00:00Z") - NOW_US) // SECOND_US
    busiest = [real[second] for second in range(first, first + 600)]
    assert max(busiest) == found.advice.expected <= 10


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    found = Service(tmp_path, NOW_US)
    yield found
    found.close()


def test_stored_live_triggers_are_read_by_tenant_or_all(service: Service) -> None:
    service.apply(
        a_trigger("noon", "0 12 * * *"),
        a_trigger("paused", "0 12 * * *"),
        a_trigger("berlin", "0 14 * * *", zone="Europe/Berlin"),
    )
    service.apply(PauseTrigger(tenant_id=TENANT, name="paused"))
    service.apply(a_tenant("beta"), a_target("beta"))
    service.apply(a_trigger("noon", "0 12 * * *", tenant_id="beta"))
    registry = service.store.registry
    own = hot_seconds(live_subjects(registry, TENANT), now_us=service.now_us)
    assert peaks(own) == [("2026-06-01T12:00:00Z", 2)]
    assert [each.names for each in own.before[0].crowds] == [("acme/noon",), ("acme/berlin",)]
    everyone = hot_seconds(live_subjects(registry), now_us=service.now_us)
    assert peaks(everyone) == [("2026-06-01T12:00:00Z", 3)]


def test_stored_forecast_is_what_then_happens(service: Service) -> None:
    for number in range(30):
        service.apply(a_trigger(f"job-{number}", "*/5 * * * *", smear_s=20))
    found = hot_seconds(live_subjects(service.store.registry), now_us=service.now_us, window_s=600)
    service.start()
    service.advance_to(found.until_us - 1)
    due = Counter(row.due_us // SECOND_US * SECOND_US for row in service.fires())
    busiest = sorted(due.items(), key=lambda item: (-item[1], item[0]))[: len(found.after)]
    assert [(each.at_us, each.count) for each in found.after] == busiest


def test_stored_triggers_that_take_the_advice_peak_as_it_said(service: Service) -> None:
    names = [f"job-{number}" for number in range(60)]
    service.apply(*(a_trigger(name, "0 9 * * *") for name in names))
    registry = service.store.registry
    advice = hot_seconds(live_subjects(registry), now_us=service.now_us, level=2).advice
    assert advice.smear_s is not None
    service.apply(*(a_trigger(name, "0 9 * * *", smear_s=advice.smear_s) for name in names))
    again = hot_seconds(live_subjects(registry), now_us=service.now_us, level=2)
    assert again.after[0].count == advice.expected <= 2
    assert again.advice == SmearAdvice(2, 0, advice.expected)
