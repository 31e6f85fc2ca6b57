"""The one sentence: every state of a fire, every cause, and every reason for no decision."""

from typing import Any

import pytest

from control_api.answers.why import Edit, WhyFacts, why
from ports.records import (
    AttemptRecord,
    AuditRecord,
    FireRecord,
    GapRecord,
    Lease,
    TriggerRecord,
)
from scheduling.instants import SECOND_US, from_text
from scheduling.keys import FireKey
from scheduling.vocabulary import (
    Cause,
    FireState,
    HeldReason,
    Lane,
    MissedPolicy,
    Origin,
    OverlapPolicy,
    TriggerState,
)
from tests.support.definitions import a_definition

NINE_US = from_text("2026-06-01T07:00:00Z")  # 09:00 in Berlin
MINUTE_US = 60 * SECOND_US
NOW_US = NINE_US + 10 * MINUTE_US
WHEN = "acme/nightly for Mon 2026-06-01 09:00:00 +02:00"
IDLE = "nothing is running now: start `punctual up`"


def a_trigger_record(**changes: Any) -> TriggerRecord:
    facts: dict[str, Any] = {
        "tenant_id": "acme",
        "trigger_id": "t1",
        "name": "nightly",
        "state": TriggerState.LIVE,
        "version": 1,
        "revision": 1,
        "partition_id": 7,
        "pause_note": None,
        "quarantine_error": None,
        "decided_through_us": NINE_US - MINUTE_US,
        "next_due_us": NINE_US,
        "fired_count": 3,
        "created_us": NINE_US - 600 * MINUTE_US,
    }
    return TriggerRecord(**{**facts, **changes})


def a_fire(**changes: Any) -> FireRecord:
    facts: dict[str, Any] = {
        "key": FireKey("acme", "t1", NINE_US),
        "trigger_name": "nightly",
        "version": 1,
        "origin": Origin.SCHED,
        "lane": Lane.ON_TIME,
        "state": FireState.ACCEPTED,
        "cause": None,
        "cause_detail": None,
        "held_reason": None,
        "not_before_us": None,
        "due_us": NINE_US,
        "decided_us": NINE_US + 10_000,
        "committed_us": NINE_US + 10_000,
        "queued_us": NINE_US + 11_000,
        "first_dispatched_us": NINE_US + 12_000,
        "next_attempt_n": 1,
        "attempts": 0,
        "outcome_cause": None,
        "coalesced_into_us": None,
        "through_us": None,
        "instant_count": 1,
        "tzdata_version": "2026a",
        "changed_us": NINE_US + 30_000,
    }
    return FireRecord(**{**facts, **changes})


def an_attempt(n: int = 1, **changes: Any) -> AttemptRecord:
    facts: dict[str, Any] = {
        "n": n,
        "dispatched_us": NINE_US + n * SECOND_US,
        "claimed_until_us": NINE_US + 20 * SECOND_US,
        "finished_us": NINE_US + 2 * n * SECOND_US,
        "transport_result": "response",
        "http_status": 200,
        "error": None,
    }
    return AttemptRecord(**{**facts, **changes})


def facts(**changes: Any) -> WhyFacts:
    given: dict[str, Any] = {
        "trigger": a_trigger_record(),
        "instant_us": NINE_US,
        "now_us": NOW_US,
        "definition": a_definition("0 9 * * *", zone="Europe/Berlin"),
        "due_us": NINE_US,
        "is_instant": True,
        "before_us": NINE_US - 1_440 * MINUTE_US,
        "after_us": NINE_US + 1_440 * MINUTE_US,
        "row": None,
        "attempts": (),
        "chain": (),
        "others": (),
        "gap": None,
        "change": None,
        "lease": Lease(7, "host-1", 3, NOW_US + SECOND_US),
        "pinned_tzdata": "2026a",
        "installed_tzdata": "2026a",
    }
    return WhyFacts(**{**given, **changes})


def held(reason: HeldReason, until_us: int | None = None) -> FireRecord:
    return a_fire(
        state=FireState.HELD,
        held_reason=reason,
        not_before_us=until_us,
        first_dispatched_us=None,
        next_attempt_n=1,
    )


def not_dispatched(cause: Cause, **changes: Any) -> FireRecord:
    return a_fire(state=FireState.NOT_DISPATCHED, cause=cause, first_dispatched_us=None, **changes)


BUSY = an_attempt(1, http_status=503)
UNSENT = an_attempt(2, http_status=None, transport_result="not_sent", error="no connection")
TIMEOUT = an_attempt(2, http_status=None, transport_result="ambiguous", error="timeout")

FIRED = [
    pytest.param(
        {"row": a_fire(), "attempts": (an_attempt(),)},
        "fired",
        f"{WHEN} fired: sent 12 ms after its due time, and the target took it on attempt 1 with "
        "HTTP 200; no outcome was reported yet.",
        id="accepted",
    ),
    pytest.param(
        {
            "row": a_fire(),
            "attempts": (BUSY, an_attempt(2)),
            "definition": a_definition(zone="Europe/Berlin", response_is_outcome=True),
        },
        "fired",
        f"{WHEN} fired: sent 12 ms after its due time, and the target took it on attempt 2 (the "
        "first failed) with HTTP 200.",
        id="accepted-where-the-answer-is-the-outcome",
    ),
    pytest.param(
        {
            "row": a_fire(state=FireState.FAILED, lane=Lane.CATCH_UP),
            "attempts": (BUSY, TIMEOUT, an_attempt(3)),
        },
        "fired",
        f"{WHEN} fired: sent 12 ms after its due time, on the catch-up lane, and the target took "
        "it on attempt 3 (the first 2 failed) with HTTP 200; the work reported failure.",
        id="failed-on-catch-up",
    ),
    pytest.param(
        {
            "row": a_fire(state=FireState.FAILED, outcome_cause="no paper\x1b[31m\nin tray 2"),
            "attempts": (an_attempt(),),
        },
        "fired",
        f"{WHEN} fired: sent 12 ms after its due time, and the target took it on attempt 1 with "
        "HTTP 200; the work reported failure (the worker said: no paper\\x1b[31m\\nin tray 2).",
        id="failed-with-a-cause",
    ),
    pytest.param(
        {
            "row": a_fire(state=FireState.FAILED, outcome_cause="x" * 201),
            "attempts": (an_attempt(),),
        },
        "fired",
        f"{WHEN} fired: sent 12 ms after its due time, and the target took it on attempt 1 with "
        f"HTTP 200; the work reported failure (the worker said: {'x' * 197}...).",
        id="failed-with-a-long-cause",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.SUCCEEDED), "attempts": (an_attempt(),)},
        "fired",
        f"{WHEN} fired: sent 12 ms after its due time, and the target took it on attempt 1 with "
        "HTTP 200; the work reported success.",
        id="succeeded",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.REFUSED), "attempts": (an_attempt(http_status=404),)},
        "endpoint",
        f"Your endpoint refused {WHEN}: HTTP 404 at 09:00:02 +02:00, and such an answer is not "
        "tried again.",
        id="refused",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.UNDELIVERED), "attempts": (BUSY,)},
        "endpoint",
        f"Your endpoint failed {WHEN}: one try, with HTTP 503 at 09:00:02 +02:00, and no "
        "try is left.",
        id="undelivered",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.UNDELIVERED), "attempts": (BUSY, UNSENT)},
        "endpoint",
        f"{WHEN} did not reach your endpoint: 2 tries, the last with no connection at 09:00:04 "
        "+02:00, and no try is left.",
        id="undelivered-and-never-sent",
    ),
    pytest.param(
        {
            "row": a_fire(state=FireState.UNDELIVERED, cause_detail="by ann: not today"),
            "attempts": (BUSY,),
        },
        "endpoint",
        f"Your endpoint failed {WHEN}: one try, with HTTP 503 at 09:00:02 +02:00, and it was "
        "cancelled by ann: not today.",
        id="cancelled-between-tries",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.UNKNOWN), "attempts": (BUSY, TIMEOUT)},
        "endpoint",
        f"Nobody knows whether {WHEN} ran: 2 tries, the last with timeout at 09:00:04 +02:00, so "
        "the request may have arrived; no try is left.",
        id="unknown",
    ),
    pytest.param(
        {
            "row": a_fire(
                state=FireState.HELD,
                held_reason=HeldReason.BACKOFF,
                not_before_us=NOW_US + 4 * SECOND_US,
                next_attempt_n=2,
            ),
            "attempts": (BUSY,),
        },
        "endpoint",
        f"Your endpoint failed {WHEN}: one try, with HTTP 503 at 09:00:02 +02:00; next "
        "try at 09:10:04 +02:00.",
        id="backoff",
    ),
    pytest.param(
        {
            "row": a_fire(
                state=FireState.HELD,
                held_reason=HeldReason.BACKOFF,
                not_before_us=NOW_US + 4 * SECOND_US,
                next_attempt_n=3,
            ),
            "attempts": (BUSY, UNSENT),
        },
        "endpoint",
        f"{WHEN} did not reach your endpoint: 2 tries, the last with no connection at 09:00:04 "
        "+02:00; next try at 09:10:04 +02:00.",
        id="backoff-after-nothing-was-sent",
    ),
]

WAITING = [
    pytest.param(
        {"row": held(HeldReason.DUE_LATER, NOW_US + 3 * SECOND_US)},
        f"{WHEN} is held: its due time, smear included, lies ahead, until 09:10:03 +02:00.",
        id="due-later",
    ),
    pytest.param(
        {"row": held(HeldReason.DUE_LATER, NOW_US), "lease": None},
        f"{WHEN} is held: its time has come, and whoever owns its partition is about to send it; "
        f"{IDLE}.",
        id="due-by-now-with-nobody-to-send-it",
    ),
    pytest.param(
        {"row": held(HeldReason.LANE_RATE)},
        f"{WHEN} is held: it waits for its turn under the tenant's rate for the on_time lane.",
        id="lane-rate",
    ),
    pytest.param(
        {
            "row": held(HeldReason.OVERLAP),
            "definition": a_definition(
                zone="Europe/Berlin", overlap_policy=OverlapPolicy.BUFFER_ONE, run_timeout_s=1_800
            ),
        },
        f"{WHEN} is held: the run before it has not ended (buffer_one), and it goes when that one "
        "ends, 30m after its start at the latest.",
        id="overlap",
    ),
    pytest.param(
        {"row": held(HeldReason.QUOTA, NOW_US + SECOND_US)},
        f"{WHEN} is held: the tenant's quota is used up, until 09:10:01 +02:00.",
        id="quota",
    ),
    pytest.param(
        {"row": held(HeldReason.BREAKER, NOW_US + SECOND_US)},
        f"{WHEN} is held: its target fails so often that it gets a rest, until 09:10:01 +02:00.",
        id="breaker",
    ),
    pytest.param(
        {"row": held(HeldReason.NO_RESOURCES, NOW_US + SECOND_US)},
        f"{WHEN} is held: the service could not try it for want of its own files, memory, ports "
        "or name servers, as its log says, until 09:10:01 +02:00; nothing was sent to "
        "your endpoint.",
        id="no-resources",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.READY, first_dispatched_us=None)},
        f"{WHEN} is decided and about to go on the on_time lane.",
        id="ready",
    ),
    pytest.param(
        {"row": a_fire(state=FireState.QUEUED, first_dispatched_us=None), "lease": None},
        f"{WHEN} is on the on_time lane since 09:00:00.011 +02:00 and waits for a dispatcher; "
        f"{IDLE}.",
        id="queued-with-nobody-to-send-it",
    ),
    pytest.param(
        {
            "row": a_fire(state=FireState.DISPATCHING),
            "attempts": (an_attempt(finished_us=None, http_status=None, transport_result=None),),
        },
        f"{WHEN} is being sent: attempt 1 began at 09:00:01 +02:00 and the target has not answered "
        "yet.",
        id="dispatching",
    ),
]

PAUSED_BY = AuditRecord(NINE_US - MINUTE_US, "cli:ann", "trigger_paused", note="price change")
DELETED_BY = AuditRecord(NINE_US - MINUTE_US, "cli:ann", "trigger_deleted", note="moved")
RUN_BY = AuditRecord(NINE_US, "cli:ann", "trigger_run", note="once more")
NEWER = a_fire(key=FireKey("acme", "t1", NINE_US + 5 * MINUTE_US), state=FireState.SUCCEEDED)
CAUSES = [
    pytest.param(
        {
            "row": not_dispatched(Cause.SKIPPED_BY_POLICY, decided_us=NINE_US + 3 * MINUTE_US),
            "definition": a_definition(zone="Europe/Berlin", missed_policy=MissedPolicy.SKIP),
        },
        "it was missed, and the missed policy is skip, and it was found 3 m late",
        id="skipped",
    ),
    pytest.param(
        {
            "row": not_dispatched(Cause.COALESCED, coalesced_into_us=NINE_US + 5 * MINUTE_US),
            "chain": (NEWER,),
        },
        "it was missed and coalesced into the fire of 09:05:00 +02:00 (policy fire_once_now), "
        "which succeeded",
        id="coalesced",
    ),
    pytest.param(
        {
            "row": not_dispatched(Cause.COALESCED, coalesced_into_us=NINE_US + 3 * MINUTE_US),
            "chain": (
                not_dispatched(Cause.COALESCED, key=FireKey("acme", "t1", NINE_US + 3 * MINUTE_US)),
                NEWER,
            ),
        },
        "it was missed and coalesced into the fire of 09:05:00 +02:00 (through that of 09:03:00 "
        "+02:00) (policy fire_once_now), which succeeded",
        id="coalesced-twice",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.COALESCED, coalesced_into_us=NINE_US + MINUTE_US)},
        "it was missed and coalesced into the fire of 09:01:00 +02:00 (policy fire_once_now)",
        id="coalesced-into-a-fire-that-is-gone",
    ),
    pytest.param(
        {
            "row": not_dispatched(
                Cause.EXPIRED_PAST_HORIZON,
                cause_detail="horizon 60 s, chosen by ann",
                decided_us=NINE_US + 1_500 * MINUTE_US,
            ),
            "definition": a_definition(
                zone="Europe/Berlin", catchup_horizon_s=60, horizon_source="chosen by ann"
            ),
        },
        "when it was decided at 2026-06-02 10:00:00 +02:00 it was older than its catch-up horizon "
        "of 1m (chosen by ann)",
        id="expired",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.EXPIRED_PAST_HORIZON, decided_us=NINE_US + 120 * MINUTE_US)},
        "when it was decided at 11:00:00 +02:00 it was older than its catch-up horizon of 1h (the "
        "default, which nobody chose)",
        id="expired-by-the-default",
    ),
    pytest.param(
        {
            "row": not_dispatched(Cause.OVERLAP),
            "definition": a_definition(zone="Europe/Berlin", overlap_policy=OverlapPolicy.SKIP),
        },
        "the run before it had not ended (policy skip)",
        id="overlap",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.PAUSED), "change": PAUSED_BY},
        "the trigger was paused by cli:ann at 08:59:00 +02:00 (price change)",
        id="paused",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.DELETED)}, "the trigger was deleted", id="deleted-by-nobody"
    ),
    pytest.param(
        {
            "row": not_dispatched(
                Cause.QUARANTINED, instant_count=0, through_us=NINE_US + MINUTE_US
            ),
            "is_instant": False,
        },
        "the trigger was quarantined; its schedule could not be evaluated then",
        id="quarantined-with-no-rule",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.OVER_CEILING)},
        "it lay over the ceiling that was set for it",
        id="over-ceiling",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.SHED)},
        "there was more to send than could be, and it was shed",
        id="shed",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.SUPERSEDED)},
        "a backfill had run this instant already",
        id="superseded",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.CANCELLED, cause_detail="by ann: not today")},
        "it was cancelled by ann: not today",
        id="cancelled",
    ),
    pytest.param(
        {"row": not_dispatched(Cause.CANCELLED, cause_detail="acme has no key")},
        "its payload cannot be read any more (acme has no key)",
        id="its-payload-was-deleted",
    ),
]

LONG_AGO = a_trigger_record(decided_through_us=NINE_US - 500 * MINUTE_US)
UNDECIDED = [
    pytest.param(
        {"trigger": a_trigger_record(created_us=NINE_US + MINUTE_US)},
        "not_due",
        "acme/nightly did not exist at Mon 2026-06-01 09:00:00 +02:00: it was created at Mon "
        "2026-06-01 09:01:00 +02:00, and its first instant after that is Tue 2026-06-02 09:00:00 "
        "+02:00.",
        id="before-the-trigger",
    ),
    pytest.param(
        {"is_instant": False},
        "not_due",
        "Mon 2026-06-01 09:00:00 +02:00 is not an instant of acme/nightly's schedule: the nearest "
        "are Sun 2026-05-31 09:00:00 +02:00 before and Tue 2026-06-02 09:00:00 +02:00 after.",
        id="no-instant",
    ),
    pytest.param(
        {"is_instant": False, "before_us": None},
        "not_due",
        "Mon 2026-06-01 09:00:00 +02:00 is not an instant of acme/nightly's schedule: the nearest "
        "is Tue 2026-06-02 09:00:00 +02:00 after.",
        id="no-instant-and-none-before",
    ),
    pytest.param(
        {
            "gap": GapRecord(
                tenant_id="acme",
                trigger_id="t1",
                version=1,
                after_us=NINE_US - MINUTE_US,
                through_us=NINE_US + 500 * MINUTE_US,
                detected_us=NOW_US,
                planned_through_us=NINE_US - MINUTE_US,
                instant_count=501,
                planned_count=0,
            )
        },
        "undecided",
        f"{WHEN} is not decided yet: it is one of 501 missed instants through 17:20:00 +02:00 that "
        "will all fire at the catch-up rate, and is still to be planned.",
        id="gap",
    ),
    pytest.param(
        {"is_instant": False, "edit": Edit(2, NINE_US - MINUTE_US, "ann", took_it_away=True)},
        "not_due",
        "acme/nightly was not due at Mon 2026-06-01 09:00:00 +02:00: ann edited it at 08:59:00 "
        "+02:00 (version 2), and its schedule has not had that instant since.",
        id="edited-away",
    ),
    pytest.param(
        {"is_instant": False, "edit": Edit(2, NOW_US, "ann", took_it_away=False)},
        "not_due",
        "acme/nightly was not due at Mon 2026-06-01 09:00:00 +02:00: its schedule has that instant "
        "only since ann edited it at 09:10:00 +02:00 (version 2).",
        id="edited-later",
    ),
    pytest.param(
        {"is_instant": False, "is_excluded": True},
        "not_due",
        "acme/nightly was not due at Mon 2026-06-01 09:00:00 +02:00: 2026-06-01 is excluded from "
        "its schedule.",
        id="excluded",
    ),
    pytest.param(
        {
            "trigger": a_trigger_record(decided_through_us=NINE_US),
            "definition": a_definition(zone="Europe/Berlin", max_fires=3),
        },
        "not_due",
        "acme/nightly was not due at Mon 2026-06-01 09:00:00 +02:00: it had fired its 3 times.",
        id="its-limit-was-reached",
    ),
    pytest.param(
        {"trigger": a_trigger_record(decided_through_us=NINE_US)},
        "not_due",
        "acme/nightly was not due at Mon 2026-06-01 09:00:00 +02:00: everything through 09:00:00 "
        "+02:00 is decided, and no row tells of that instant.",
        id="decided-without-a-row",
    ),
    pytest.param(
        {
            "trigger": a_trigger_record(
                state=TriggerState.DELETED, decided_through_us=NINE_US - MINUTE_US
            ),
            "change": DELETED_BY,
        },
        "not_due",
        "acme/nightly was not due at Mon 2026-06-01 09:00:00 +02:00: it was deleted by cli:ann at "
        "08:59:00 +02:00 (moved).",
        id="deleted",
    ),
    pytest.param(
        {
            "is_over_limit": True,
            "definition": a_definition(zone="Europe/Berlin", max_fires=3),
            "now_us": NINE_US - MINUTE_US,
        },
        "not_due",
        "acme/nightly will not fire at Mon 2026-06-01 09:00:00 +02:00: by then it has fired its 3 "
        "times.",
        id="beyond-its-limit",
    ),
    pytest.param(
        {"trigger": a_trigger_record(state=TriggerState.PAUSED), "change": PAUSED_BY},
        "undecided",
        f"{WHEN} is not decided: the trigger is paused by cli:ann at 08:59:00 +02:00 (price "
        "change), and its resume says what becomes of it.",
        id="paused",
    ),
    pytest.param(
        {"trigger": a_trigger_record(state=TriggerState.PAUSED, pause_note="price change")},
        "undecided",
        f"{WHEN} is not decided: the trigger is paused (price change), and its resume says what "
        "becomes of it.",
        id="paused-so-long-that-the-audit-was-not-found",
    ),
    pytest.param(
        {
            "trigger": a_trigger_record(
                state=TriggerState.QUARANTINED, quarantine_error="RuleError: no such zone"
            )
        },
        "undecided",
        f"{WHEN} is not decided: the trigger is quarantined, because its rule failed with "
        "RuleError: no such zone; a corrected definition or `punctual resume` ends that.",
        id="quarantined",
    ),
    pytest.param(
        {
            "trigger": a_trigger_record(state=TriggerState.FINISHED),
            "definition": a_definition(zone="Europe/Berlin", max_fires=3),
        },
        "not_due",
        "acme/nightly did not fire at Mon 2026-06-01 09:00:00 +02:00: it has fired its 3 times.",
        id="fired-its-limit",
    ),
    pytest.param(
        {"trigger": a_trigger_record(state=TriggerState.FINISHED)},
        "not_due",
        "acme/nightly did not fire at Mon 2026-06-01 09:00:00 +02:00: its schedule has ended.",
        id="ended",
    ),
    pytest.param(
        {"installed_tzdata": "2026b"},
        "undecided",
        f"{WHEN} is not decided: the store is pinned to tzdata 2026a and this program has 2026b, "
        "so it must not decide until `punctual tzdata adopt`.",
        id="zone-data-differs",
    ),
    pytest.param(
        {"trigger": LONG_AGO, "now_us": NINE_US - 90 * MINUTE_US},
        "undecided",
        f"{WHEN} is not decided yet: it is due in 1 h 30 m.",
        id="future",
    ),
    pytest.param(
        {"now_us": NINE_US, "due_us": NINE_US + 2 * SECOND_US},
        "undecided",
        f"{WHEN} is not decided yet: it is due in 2 s, at 09:00:02 +02:00 with its smear of 2 s.",
        id="smeared",
    ),
    pytest.param(
        {
            "trigger": LONG_AGO,
            "now_us": NINE_US - 90 * MINUTE_US,
            "lease": Lease(7, None, 3, 0),
        },
        "undecided",
        f"{WHEN} is not decided yet: it is due in 1 h 30 m; {IDLE}.",
        id="future-with-nobody-to-decide-it",
    ),
    pytest.param(
        {"now_us": NINE_US - 5 * MINUTE_US},
        "undecided",
        f"{WHEN} is not decided yet: it is due in 5 m; until then the trigger is silent, because "
        "everything through 2026-06-01 08:59:00 +02:00 was decided before the clock went back.",
        id="cursor-ahead-of-now",
    ),
    pytest.param(
        {"lease": Lease(7, "host-1", 3, NOW_US)},
        "undecided",
        f"{WHEN} is not decided: it was due 10 m ago; {IDLE}.",
        id="overdue-with-an-expired-lease",
    ),
    pytest.param(
        {"now_us": NINE_US + SECOND_US},
        "undecided",
        f"{WHEN} is not decided yet: it was due 1 s ago and host-1 is about to decide it.",
        id="just-due",
    ),
    pytest.param(
        {},
        "undecided",
        f"{WHEN} is not decided yet: it was due 10 m ago and host-1 has not decided it: its log "
        "says why (a bad clock, a busy store).",
        id="overdue",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "sentence"), FIRED)
def test_why_a_fire_that_was_sent_tells_what_the_target_said(
    changes: dict[str, Any], kind: str, sentence: str
) -> None:
    assert why(facts(**changes)) == (kind, sentence)


@pytest.mark.parametrize(("changes", "sentence"), WAITING)
def test_why_a_fire_that_waits_tells_what_for(changes: dict[str, Any], sentence: str) -> None:
    assert why(facts(**changes)) == ("waiting", sentence)


@pytest.mark.parametrize(("changes", "reason"), CAUSES)
def test_why_a_fire_that_was_not_dispatched_tells_the_cause(
    changes: dict[str, Any], reason: str
) -> None:
    assert why(facts(**changes)) == ("not_dispatched", f"We decided not to fire {WHEN}: {reason}.")


def test_why_of_every_cause_is_in_the_table() -> None:
    told = {
        cause for cause in Cause if why(facts(row=not_dispatched(cause))).kind == "not_dispatched"
    }
    assert told == set(Cause)


@pytest.mark.parametrize(("changes", "kind", "sentence"), UNDECIDED)
def test_why_an_instant_without_a_row_tells_the_deepest_reason(
    changes: dict[str, Any], kind: str, sentence: str
) -> None:
    assert why(facts(**changes)) == (kind, sentence)


def test_why_a_time_inside_a_range_that_is_no_instant_says_so() -> None:
    row = not_dispatched(Cause.PAUSED, through_us=NINE_US + MINUTE_US, instant_count=2)
    assert why(facts(row=row, is_instant=False)).kind == "not_due"


def test_why_an_instant_that_was_also_run_by_hand_tells_of_both() -> None:
    manual = a_fire(
        key=FireKey("acme", "t1", NINE_US, 4), origin=Origin.MANUAL, state=FireState.FAILED
    )
    answer = why(facts(row=not_dispatched(Cause.DELETED), others=(manual,)))
    assert answer.sentence == (
        f"We decided not to fire {WHEN}: the trigger was deleted; there is also a manual run "
        "(sequence 4: failed)."
    )


def test_why_a_manual_run_tells_who_asked_for_it() -> None:
    manual = a_fire(
        key=FireKey("acme", "t1", NINE_US, 9), origin=Origin.MANUAL, state=FireState.SUCCEEDED
    )
    told = facts(row=manual, is_instant=False, run=RUN_BY, attempts=(an_attempt(),))
    assert why(told) == (
        "fired",
        "The manual run of acme/nightly at Mon 2026-06-01 09:00:00 +02:00 by cli:ann (once more) "
        "fired: sent 12 ms after its due time, and the target took it on attempt 1 with HTTP 200; "
        "the work reported success.",
    )


def test_why_an_undecided_instant_that_was_backfilled_tells_of_both() -> None:
    backfill = a_fire(
        key=FireKey("acme", "t1", NINE_US, 9), origin=Origin.BACKFILL, state=FireState.ACCEPTED
    )
    assert why(facts(others=(backfill,), lease=None)) == (
        "undecided",
        f"{WHEN} is not decided: it was due 10 m ago; {IDLE}; there is also a backfill (sequence "
        "9: accepted).",
    )
