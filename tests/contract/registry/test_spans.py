"""The registry's spans: what applied to a trigger, and from when on."""

from ports.records import SpanRecord
from ports.store import Store
from scheduling.vocabulary import ResumeRule, SpanKind, TriggerState
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import TENANT, at


def _spans(crank: HandCrank, name: str = "job") -> list[SpanRecord]:
    return crank.store.registry.spans(TENANT, crank.ids[name])


def test_spans_tell_a_triggers_whole_life_oldest_first(crank: HandCrank) -> None:
    crank.put()
    crank.to(10)
    crank.put(recurrence=("*/2 * * * *",))
    crank.to(20)
    crank.pause(note="holiday")
    crank.to(30)
    crank.resume(rule=ResumeRule.FIRE_ALL, note="back")
    crank.to(40)
    crank.delete(note="moved")
    assert _spans(crank) == [
        SpanRecord(1, at(0), SpanKind.LIVE, 1, None, None, ACTOR),
        SpanRecord(2, at(10), SpanKind.LIVE, 2, None, None, ACTOR),
        SpanRecord(3, at(20), SpanKind.PAUSED, 2, None, "holiday", ACTOR),
        SpanRecord(4, at(30), SpanKind.LIVE, 2, ResumeRule.FIRE_ALL, "back", ACTOR),
        SpanRecord(5, at(40), SpanKind.DELETED, 2, None, "moved", ACTOR),
    ]


def test_spans_tell_a_quarantine_with_its_error(
    crank: HandCrank, harness: StoreHarness, peek: StorePeek
) -> None:
    crank.put()
    peek.set_rule((TENANT, crank.ids["job"]), "nonsense", version=1)
    crank.store = harness.open()
    crank.commit_at(60)
    assert crank.trigger().state is TriggerState.QUARANTINED
    newest = _spans(crank)[-1]
    assert (newest.revision, newest.kind, newest.actor) == (2, SpanKind.QUARANTINED, "decider")
    assert newest.note == crank.trigger().quarantine_error


def test_spans_are_the_triggers_own(crank: HandCrank) -> None:
    crank.put()
    crank.put("other")
    crank.pause("other")
    assert [span.kind for span in _spans(crank)] == [SpanKind.LIVE]


def test_spans_leave_runs_and_cancellations_out(crank: HandCrank) -> None:
    crank.put()
    crank.cancel(crank.run())
    assert [span.revision for span in _spans(crank)] == [1]


def test_spans_of_an_unknown_trigger_are_none(store: Store) -> None:
    assert store.registry.spans(TENANT, "t00") == []
