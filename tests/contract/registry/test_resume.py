"""apply, resuming: the call says what becomes of the paused span; nothing in it counts as late."""

import pytest

from ports.changes import ChangeKind
from scheduling.limits import SWEEP_ROWS_MAX
from scheduling.vocabulary import (
    WAITING,
    Cause,
    FireState,
    MissedPolicy,
    ResumeRule,
    TriggerState,
)
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import at, since_start


@pytest.fixture
def paused(crank: HandCrank) -> HandCrank:
    """Every minute, paused at 90 s; the clock stands at 330 s."""
    crank.put(recurrence=("*/1 * * * *",))
    crank.attempt(crank.commit_at(60))
    crank.to(90)
    crank.pause()
    crank.to(330)
    return crank


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        pytest.param(ResumeRule.DROP, ["120..300 x4 paused"], id="drop"),
        pytest.param(ResumeRule.SKIP, ["120..300 x4 skipped_by_policy"], id="skip"),
        pytest.param(
            ResumeRule.FIRE_ONCE_NOW,
            ["120..240 x3 coalesced>300", "300 catch_up held lane_rate"],
            id="fire_once_now",
        ),
        pytest.param(
            ResumeRule.FIRE_ALL,
            [f"{second} catch_up held lane_rate" for second in (120, 180, 240, 300)],
            id="fire_all",
        ),
    ],
)
def test_resume_rule_says_what_becomes_of_the_paused_span(
    paused: HandCrank, rule: ResumeRule, lines: list[str]
) -> None:
    result = paused.resume(rule=rule, note="back")
    assert (result.kind, result.from_us, result.next_due_us) == (
        ChangeKind.RESUMED,
        at(330),
        at(360),
    )
    assert paused.lines() == ["60 accepted", *lines]
    paused.commit_at(360)
    assert paused.lines()[-1] == "360 ready"


def test_resume_beyond_the_horizon_expires_the_old_part(paused: HandCrank) -> None:
    paused.to(3_900)
    paused.resume(rule=ResumeRule.FIRE_ALL)
    assert paused.lines()[1] == "120..240 x3 expired_past_horizon"
    assert paused.lines()[2] == "300 catch_up held lane_rate"
    assert len(paused.lines()) == 2 + 61


def test_resume_fire_once_now_is_absorbed_by_the_next_fire(paused: HandCrank) -> None:
    paused.resume(rule=ResumeRule.FIRE_ONCE_NOW)
    paused.commit_at(360)
    assert paused.lines()[1:] == [
        "120..240 x3 coalesced>300",
        "300 coalesced>360",
        "360 ready",
    ]


def test_resume_fire_all_of_a_long_pause_becomes_a_gap(paused: HandCrank) -> None:
    """Under the edit's horizon; what was paused before it keeps the old one."""
    paused.put(catchup_horizon_s=86_400)
    paused.to(150 * 60 + 30)
    paused.resume(rule=ResumeRule.FIRE_ALL)
    assert paused.lines()[1:] == ["120..300 x4 expired_past_horizon"]
    assert [gap.instant_count for gap in paused.store.history.gaps()] == [145]


def test_resume_choice_wins_over_the_versions_policy(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL)
    crank.pause()
    crank.to(130)
    crank.resume(rule=ResumeRule.SKIP)
    assert crank.lines() == ["60..120 x2 skipped_by_policy"]


def test_resume_judges_each_paused_instant_under_its_own_version(paused: HandCrank) -> None:
    """Edited inside the pause: the pause is one, its versions are two."""
    paused.to(210)
    paused.put(recurrence=("30 * * * * *",))
    paused.to(330)
    paused.resume(rule=ResumeRule.FIRE_ALL)
    assert paused.lines()[1:] == [
        f"{second} catch_up held lane_rate" for second in (120, 180, 270, 330)
    ]
    assert [fire.version for fire in paused.fires()] == [1, 1, 1, 2, 2]


def test_resume_of_a_pause_with_nothing_due_writes_no_row(crank: HandCrank) -> None:
    crank.put()
    crank.pause()
    crank.to(59)
    assert crank.resume().settled_rows == 0
    assert crank.lines() == []


def test_resume_of_a_live_trigger_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    before = peek.content()
    assert crank.resume().kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_resume_records_rule_and_note(paused: HandCrank) -> None:
    paused.resume(rule=ResumeRule.SKIP, note="back")
    (entry,) = paused.store.audit.entries(limit=1)
    assert (entry.action, entry.note) == ("trigger_resumed", "back")
    trigger = paused.trigger()
    assert (trigger.state, trigger.pause_note) == (TriggerState.LIVE, None)


def test_resume_counts_fires_under_the_cap(crank: HandCrank) -> None:
    crank.put(max_fires=2)
    crank.pause()
    crank.to(330)
    crank.resume(rule=ResumeRule.FIRE_ALL)
    assert crank.lines() == [f"{second} catch_up held lane_rate" for second in (60, 120)]
    assert crank.trigger().state is TriggerState.FINISHED


@pytest.mark.parametrize("rule", [ResumeRule.FIRE_ALL, ResumeRule.FIRE_ONCE_NOW])
def test_resume_after_a_step_back_of_the_clock_fires_nothing_early(
    crank: HandCrank, rule: ResumeRule
) -> None:
    """An edit inside the pause came from a clock that was ahead: its span begins in the future."""
    crank.put()
    crank.to(30)
    crank.pause()
    crank.to(630)
    crank.put(smear_s=1)
    crank.to(200)
    result = crank.resume(rule=rule)
    assert result.from_us == at(630)
    ahead = [fire for fire in crank.fires() if fire.due_us > at(200) and fire.cause is None]
    assert ahead != []
    assert {fire.held_reason for fire in ahead} == {"due_later"}
    sent: list[float] = []
    for second in range(200, 700, 10):
        crank.to(second)
        for message in [*crank.sweep(), *crank.publish(crank.release()), *crank.commit().ready]:
            assert message.key.scheduled_us <= crank.now_us
            sent.append(since_start(message.key.scheduled_us))
    wanted = {ResumeRule.FIRE_ALL: range(60, 661, 60), ResumeRule.FIRE_ONCE_NOW: (600, 660)}
    assert sorted(set(sent)) == list(wanted[rule])


def test_resume_of_a_long_pause_after_a_step_back_plans_nothing_early(crank: HandCrank) -> None:
    crank.put(catchup_horizon_s=86_400)
    crank.pause()
    crank.to(200 * 60)
    crank.put(catchup_horizon_s=86_400, smear_s=1)
    crank.to(100 * 60)
    crank.resume(rule=ResumeRule.FIRE_ALL)
    while crank.plan_gaps():
        pass
    early = [fire for fire in crank.fires() if fire.due_us > crank.now_us]
    assert len(early) == 100
    assert {fire.not_before_us for fire in early} == {fire.due_us for fire in early}
    assert {fire.held_reason for fire in early} == {"due_later"}


def test_paused_instant_with_a_due_time_after_the_resume_is_held_until_then(
    crank: HandCrank,
) -> None:
    crank.put(smear_s=50)
    due_us = crank.trigger().next_due_us
    assert due_us is not None
    crank.pause()
    crank.to(60)
    crank.resume(rule=ResumeRule.FIRE_ALL)
    (kept,) = crank.fires()
    assert (kept.due_us, kept.not_before_us) == (due_us, due_us)
    assert crank.release() == []


def test_resume_before_the_batches_of_the_pause_are_through_lets_nothing_old_go(
    crank: HandCrank,
) -> None:
    count = SWEEP_ROWS_MAX + 100
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400)
    crank.to(count * 60 + 90)
    crank.commit()
    while crank.plan_gaps():
        pass
    assert crank.pause().stopped_fires == SWEEP_ROWS_MAX
    held = [fire for fire in crank.fires() if fire.state is FireState.HELD]
    assert len(held) >= 90
    crank.resume()
    left = [fire for fire in crank.fires() if fire.state in WAITING]
    assert left == []
    assert {fire.cause for fire in crank.fires()} == {Cause.PAUSED}
