"""apply, editing: a new version from now on; nothing past appears, nothing smeared is lost."""

import pytest

from ports.changes import ChangeKind, PutTenant
from ports.errors import ChangeRefused
from scheduling.vocabulary import MissedPolicy, OverlapPolicy, TriggerState
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, a_tenant, at


def test_edit_makes_a_new_version_and_revision(crank: HandCrank) -> None:
    crank.put()
    crank.to(30)
    result = crank.put(recurrence=("*/2 * * * *",))
    assert (result.kind, result.version, result.revision) == (ChangeKind.EDITED, 2, 2)
    assert (result.from_us, result.next_due_us) == (at(30), at(120))
    assert crank.trigger().version == 2


def test_edit_is_audited_with_what_was_before_and_announced(crank: HandCrank) -> None:
    crank.put()
    crank.put(recurrence=("*/2 * * * *",))
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.action, entry.subject) == ("trigger_edited", "job")
    assert (
        entry.prior_value
        == '{"state": "live", "version": 1, "revision": 1, "recurrence": ["* * * * *"]}'
    )
    assert [event.event for event in crank.store.outbox.pending(limit=10)] == ["TriggerChanged"] * 2


def test_equal_definition_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.put(payload=b"p")
    before = peek.content()
    crank.to(1_000)
    result = crank.put(payload=b"p")
    assert (result.kind, result.version, result.revision) == (ChangeKind.UNCHANGED, 1, 1)
    assert peek.content() == before


def test_equal_tenant_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    before = peek.content()
    (result,) = crank.apply(PutTenant(tenant=a_tenant()))
    assert result.kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_payload_alone_makes_a_new_version(crank: HandCrank) -> None:
    crank.put(payload=b"old")
    (first,) = crank.commit_at(60)
    assert crank.put(payload=b"new").version == 2
    messages = [first, *crank.commit_at(120)]
    assert [fire.payload for fire in crank.claim(messages)] == [b"old", b"new"]


def test_edit_decides_what_is_due_under_the_old_version_first(crank: HandCrank) -> None:
    crank.put()
    crank.to(70)
    result = crank.put(recurrence=("*/7 * * * *",))
    assert result.settled_rows == 1
    assert crank.lines() == ["60 held due_later"]
    assert crank.publish(crank.sweep())[0].key == crank.key(60)
    assert crank.fires()[0].version == 1
    crank.commit_at(420)
    assert crank.fires()[-1].version == 2


def test_edit_never_creates_a_past_instant(crank: HandCrank) -> None:
    crank.put(recurrence=("0 * * * *",))
    crank.to(1_000)
    crank.put(recurrence=("* * * * *",))
    crank.commit_at(1_019, 1_020)
    assert crank.lines() == ["1020 ready"]


def test_edit_keeps_a_smeared_instant_until_it_is_due(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    due_us = crank.trigger().next_due_us
    assert due_us is not None
    assert due_us > at(60)
    crank.to(60)
    result = crank.put(recurrence=("0 12 * * *",))
    assert result.settled_rows == 1
    assert crank.lines() == ["60 held due_later"]
    (kept,) = crank.fires()
    assert (kept.due_us, kept.not_before_us, kept.version) == (due_us, due_us, 1)
    crank.now_us = due_us - 1
    assert crank.sweep() == []
    crank.now_us = due_us
    (message,) = crank.sweep()
    assert message.key == crank.key(60)
    (claimed,) = crank.claim([message])
    assert (claimed.due_us, claimed.version) == (due_us, 1)


def test_edits_one_after_the_other_keep_the_smeared_instant_once(crank: HandCrank) -> None:
    crank.put(smear_s=50)
    crank.to(60)
    for minute in (1, 2, 3):
        crank.put(recurrence=(f"{minute} 12 * * *",))
    assert crank.lines() == ["60 held due_later"]


@pytest.mark.parametrize("stop", ["pause", "delete"])
def test_kept_instant_is_stopped_with_the_cause(crank: HandCrank, stop: str) -> None:
    crank.put(smear_s=50)
    crank.to(60)
    crank.put(recurrence=("0 12 * * *",))
    result = getattr(crank, stop)()
    assert result.stopped_fires == 1
    assert crank.lines() == [f"60 {stop}d"]


def test_edit_after_downtime_gives_missed_instants_their_rows(crank: HandCrank) -> None:
    crank.put()
    crank.to(610)
    crank.put(recurrence=("0 12 * * *",))
    assert crank.lines() == ["60..540 x9 coalesced>600", "600 held due_later"]


def test_edit_after_a_step_back_of_the_clock_begins_at_the_cursor(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(600)
    crank.to(300)
    result = crank.put(recurrence=("30 * * * * *",))
    assert result.from_us == at(600)
    assert result.next_due_us == at(630)
    crank.commit_at(330, 599, 630)
    assert crank.lines()[-2:] == ["600 ready", "630 ready"]


def test_edit_after_a_step_back_begins_no_earlier_than_the_last_span(crank: HandCrank) -> None:
    crank.to(600)
    crank.put(recurrence=("0 * * * *",))
    crank.put(recurrence=("30 * * * *",))
    crank.to(100)
    result = crank.put()
    assert (result.from_us, result.next_due_us) == (at(600), at(660))
    assert crank.lines() == []


def test_edit_while_paused_keeps_the_pause(crank: HandCrank) -> None:
    crank.put()
    crank.pause(note="holiday")
    crank.to(300)
    result = crank.put(recurrence=("*/2 * * * *",))
    assert (result.kind, result.next_due_us) == (ChangeKind.EDITED, None)
    trigger = crank.trigger()
    assert (trigger.state, trigger.pause_note) == (TriggerState.PAUSED, "holiday")
    crank.commit_at(360)
    assert crank.lines() == []


def test_edit_keeps_the_fired_count(crank: HandCrank) -> None:
    crank.put(max_fires=2)
    crank.commit_at(60)
    crank.put(max_fires=2, smear_s=1)
    assert crank.trigger().fired_count == 1
    crank.commit_at(121, 181)
    assert crank.trigger().state is TriggerState.FINISHED
    assert crank.lines() == ["60 ready", "120 ready"]


def test_edit_told_to_reset_counts_from_zero(crank: HandCrank) -> None:
    crank.put(max_fires=2)
    crank.commit_at(60, 120)
    assert crank.trigger().state is TriggerState.FINISHED
    crank.to(190)
    result = crank.put(max_fires=2, reset=True)
    assert (result.kind, result.next_due_us) == (ChangeKind.EDITED, at(240))
    assert (crank.trigger().fired_count, crank.trigger().state) == (0, TriggerState.LIVE)
    crank.commit_at(240, 300, 360)
    assert crank.lines() == ["60 ready", "120 ready", "240 ready", "300 ready"]


def test_edit_that_raises_the_cap_revives_a_finished_trigger_from_now_on(
    crank: HandCrank,
) -> None:
    crank.put(max_fires=1)
    crank.commit_at(60)
    crank.to(310)
    crank.put(max_fires=2)
    crank.commit_at(360)
    assert crank.lines() == ["60 ready", "360 ready"]


def test_edit_that_lowers_the_cap_below_the_count_finishes(crank: HandCrank) -> None:
    crank.put()
    crank.commit_at(60, 120)
    assert crank.put(max_fires=1).next_due_us is None
    assert crank.trigger().state is TriggerState.FINISHED


def test_edit_of_a_trigger_whose_payload_key_is_gone_makes_a_new_version(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put(payload=b"lost")
    peek.delete_payload_key(TENANT)
    assert crank.put(payload=b"lost").version == 2


def test_edit_of_missed_and_overlap_policy_holds_from_now_on(crank: HandCrank) -> None:
    crank.put(missed_policy=MissedPolicy.SKIP)
    crank.to(200)
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, overlap_policy=OverlapPolicy.SKIP)
    assert crank.lines() == ["60..120 x2 skipped_by_policy", "180 held due_later"]


def test_edit_of_an_invalid_definition_leaves_the_old_one(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.put()
    before = peek.content()
    with pytest.raises(ChangeRefused, match="minute"):
        crank.put(recurrence=("61 * * * *",))
    assert peek.content() == before
