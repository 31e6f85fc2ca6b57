"""commit_due: a rule that raises takes its own trigger out, and no other; a failing store none."""

from collections.abc import Callable

import pytest

from ports.changes import ChangeKind
from ports.errors import ChangeRefused, StoreUnavailable
from scheduling.vocabulary import Cause, MissedPolicy, TriggerState
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, names_of_one_partition

ERROR = "nonsense"


@pytest.fixture
def broken(crank: HandCrank, harness: StoreHarness) -> HandCrank:
    """Three triggers in one partition; the middle one's rule no longer compiles."""
    for name in names_of_one_partition(3):
        crank.put(name)
    harness.peek.set_rule((TENANT, crank.ids[_name(1)]), ERROR, version=1)
    crank.store = harness.open()
    crank.to(60)
    return crank


def _name(index: int) -> str:
    return names_of_one_partition(3)[index]


def test_broken_rule_is_quarantined_and_the_others_commit(broken: HandCrank) -> None:
    result = broken.commit(_name(0))
    assert [each.trigger_id for each in result.quarantined] == [broken.ids[_name(1)]]
    assert [broken.lines(_name(index)) for index in range(3)] == [["60 ready"], [], ["60 ready"]]
    assert result.triggers == 3


def test_broken_rule_shows_its_error_on_the_trigger(broken: HandCrank) -> None:
    result = broken.commit(_name(0))
    trigger = broken.trigger(_name(1))
    assert trigger.state is TriggerState.QUARANTINED
    assert trigger.quarantine_error == result.quarantined[0].error
    assert ERROR in result.quarantined[0].error
    assert (trigger.next_due_us, trigger.revision) == (None, 2)


def test_quarantine_is_audited_and_announced(broken: HandCrank) -> None:
    broken.commit(_name(0))
    (entry,) = broken.store.audit.entries(limit=1)
    assert (entry.action, entry.tenant_id, entry.subject) == ("quarantine", TENANT, _name(1))
    event = broken.store.outbox.pending(limit=100)[-1]
    assert (event.trigger_id, event.event) == (broken.ids[_name(1)], "TriggerChanged")
    assert '"kind": "quarantined"' in event.body


def test_quarantined_trigger_is_looked_at_no_more(broken: HandCrank) -> None:
    broken.commit(_name(0))
    broken.to(120)
    result = broken.commit(_name(0))
    assert (result.triggers, result.quarantined) == (2, ())


def test_every_trigger_broken_still_commits_the_quarantines(
    crank: HandCrank, harness: StoreHarness
) -> None:
    names = names_of_one_partition(3)
    for name in names:
        crank.put(name)
        harness.peek.set_rule((TENANT, crank.ids[name]), ERROR, version=1)
    crank.store = harness.open()
    crank.to(60)
    result = crank.commit(names[0])
    assert len(result.quarantined) == 3
    assert crank.commit(names[0]).triggers == 0


def _edit(crank: HandCrank, name: str) -> None:
    crank.put(name, recurrence=("*/2 * * * *",))


def _mended_resume(crank: HandCrank, name: str) -> None:
    """Pausing and editing first, then resuming, ends it as well."""
    crank.pause(name)
    crank.put(name, recurrence=("*/2 * * * *",))
    crank.resume(name)


@pytest.mark.parametrize("end", [_edit, _mended_resume])
def test_change_ends_the_quarantine_and_its_span_gets_a_row(
    broken: HandCrank, end: Callable[[HandCrank, str], None]
) -> None:
    broken.commit(_name(0))
    broken.to(600)
    end(broken, _name(1))
    trigger = broken.trigger(_name(1))
    assert (trigger.state, trigger.quarantine_error) == (TriggerState.LIVE, None)
    assert broken.lines(_name(1)) == ["600..600 x0 quarantined"]
    (row,) = broken.fires(_name(1))
    assert row.cause_detail is not None
    assert ERROR in row.cause_detail
    broken.commit_at(720, name=_name(1))
    assert broken.lines(_name(1))[1:] == ["720 ready"]


def test_resume_when_the_cause_is_gone_counts_the_quarantined_span(
    broken: HandCrank, harness: StoreHarness
) -> None:
    broken.commit(_name(0))
    harness.peek.set_rule((TENANT, broken.ids[_name(1)]), "* * * * *", version=1)
    broken.store = harness.open()
    broken.to(610)
    broken.resume(_name(1))
    assert broken.lines(_name(1)) == ["60..600 x10 quarantined"]
    assert broken.trigger(_name(1)).state is TriggerState.LIVE
    broken.commit_at(660, name=_name(1))
    assert broken.lines(_name(1))[1:] == ["660 ready"]


def test_resume_while_the_rule_is_still_broken_is_refused_with_its_error(
    broken: HandCrank, peek: StorePeek
) -> None:
    broken.commit(_name(0))
    before = peek.content()
    with pytest.raises(ChangeRefused, match=ERROR):
        broken.resume(_name(1))
    assert peek.content() == before


def test_delete_of_a_broken_trigger_covers_its_span(broken: HandCrank) -> None:
    """Nobody looked at it yet: the deletion is what finds out."""
    broken.to(120)
    broken.delete(_name(1))
    assert broken.lines(_name(1)) == ["120..120 x0 quarantined"]
    assert broken.store.registry.find_triggers(_name(1)) == []


def test_pause_of_a_broken_trigger_then_an_edit_and_a_resume_leave_no_instant_uncovered(
    broken: HandCrank,
) -> None:
    broken.to(120)
    broken.pause(_name(1))
    broken.to(240)
    broken.put(_name(1), recurrence=("*/2 * * * *",))
    broken.to(600)
    broken.resume(_name(1))
    assert broken.lines(_name(1)) == [
        "120..120 x0 quarantined",
        "240..240 x0 quarantined",
        "360..600 x3 paused",
    ]


def test_gap_of_a_broken_trigger_ends_in_a_row_when_it_is_planned(
    crank: HandCrank, harness: StoreHarness
) -> None:
    crank.put(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400, max_fires=200)
    crank.commit_at(130 * 60)
    harness.peek.set_rule((TENANT, crank.ids["job"]), ERROR, version=1)
    crank.store = harness.open()
    assert crank.plan_gaps() == 0
    assert crank.fire(130 * 60 - 120).cause is Cause.QUARANTINED
    assert crank.store.history.gaps() == []
    assert crank.trigger().fired_count == 2


def test_failing_store_is_never_a_quarantine(crank: HandCrank, harness: StoreHarness) -> None:
    crank.put()
    crank.to(60)
    crank.store = harness.open()
    before = harness.peek.content()
    with harness.peek.without_versions(), pytest.raises(StoreUnavailable):
        crank.commit()
    assert harness.peek.content() == before
    assert crank.trigger().state is TriggerState.LIVE
    assert crank.commit().ready != ()


def test_edit_with_the_same_definition_does_not_end_the_quarantine(broken: HandCrank) -> None:
    broken.commit(_name(0))
    assert broken.put(_name(1)).kind is ChangeKind.UNCHANGED
    assert broken.trigger(_name(1)).state is TriggerState.QUARANTINED
