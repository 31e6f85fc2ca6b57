"""Faults planted in what targets, clients and ports saw, for the checker that finds each."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Final

from ports.changes import CancelFire, ChangeKind, ChangeResult
from tests.sim.checking import CHECKS
from tests.sim.desk import Answer
from tests.sim.evidence import Effect, Evidence, applied, effects
from tests.sim.world import Call

Plant = Callable[[Evidence], Evidence]


def _second_delivery(evidence: Evidence) -> Evidence:
    return replace(evidence, receipts=[*evidence.receipts, evidence.receipts[0]])


def _early_delivery(evidence: Evidence) -> Evidence:
    first = evidence.receipts[0]
    early = first._replace(at_us=first.fire.due_us - 1)
    return replace(evidence, receipts=[early, *evidence.receipts[1:]])


def _swapped_claims(evidence: Evidence) -> Evidence:
    """The claims of the whole world in the opposite order."""
    claims = iter([call for call in reversed(evidence.calls) if call.name == "ledger.claim"])
    calls = [next(claims) if call.name == "ledger.claim" else call for call in evidence.calls]
    return replace(evidence, calls=calls)


def _claim_after(kind: ChangeKind) -> Plant:
    """A claim's repeat right behind the first change of that kind to its trigger."""

    def plant(evidence: Evidence) -> Evidence:
        calls = list(evidence.calls)
        claims = [call for call in calls if call.name == "ledger.claim" and call.result]
        for effect in effects(evidence):
            if effect.result.kind is not kind or _is_resumed(calls[effect.place], effect):
                continue
            for claim in claims:
                key = claim.result[0].key
                if key.trigger_id == effect.result.trigger_id and key.sequence == 0:
                    calls.insert(effect.place + 1, claim)
                    return replace(evidence, calls=calls)
        raise AssertionError(f"nothing was {kind} after it had fired")

    return plant


def _is_resumed(call: Call, effect: Effect) -> bool:
    """By the very call that stopped it."""
    return any(
        result.kind is ChangeKind.RESUMED and result.trigger_id == effect.result.trigger_id
        for result in call.result
    )


def _claim_after_cancel(evidence: Evidence) -> Evidence:
    """Somebody cancelled what was claimed, just before."""
    calls = list(evidence.calls)
    place, claim = next(
        (place, call)
        for place, call in enumerate(calls)
        if call.name == "ledger.claim" and call.result
    )
    key = claim.result[0].key
    result = ChangeResult(
        kind=ChangeKind.CANCELLED, subject="bill", tenant_id=key.tenant_id, fire_key=key
    )
    arguments = {"args": ([CancelFire(key=key)],), "dry_run": False, "request": None}
    calls.insert(place, Call(0, "api", "registry.apply", arguments, [result]))
    return replace(evidence, calls=calls)


def _first_request(evidence: Evidence) -> tuple[Call, str]:
    """The first change that a request made, and its key."""
    call = next(call for _, call in applied(evidence) if call.arguments["request"] is not None)
    return call, call.arguments["request"].key


def _made_twice(evidence: Evidence) -> Evidence:
    call, _ = _first_request(evidence)
    return replace(evidence, calls=[*evidence.calls, call])


def _replayed_otherwise(evidence: Evidence) -> Evidence:
    call, _ = _first_request(evidence)
    results = [replace(each, replayed=True, subject="another") for each in call.result]
    return replace(evidence, calls=[*evidence.calls, call._replace(result=results)])


def _repeat(status: int) -> Plant:
    """A request is repeated at the end, and answered so without a word of the first time."""

    def plant(evidence: Evidence) -> Evidence:
        _, key = _first_request(evidence)
        answer = Answer(key, status, False, len(evidence.calls), "planted")
        return replace(evidence, answers=[*evidence.answers, answer])

    return plant


def _answered_for_nothing(evidence: Evidence) -> Evidence:
    answer = Answer("request 999999", 200, False, len(evidence.calls), "planted")
    return replace(evidence, answers=[*evidence.answers, answer])


def _entry_lost(evidence: Evidence) -> Evidence:
    """The store itself lets nobody delete one."""
    entries = [row for row in evidence.tables["audit_entry"] if row["action"] != "trigger_created"]
    return replace(evidence, tables={**evidence.tables, "audit_entry": entries})


def _last_events_swapped(evidence: Evidence) -> Evidence:
    """The last event of each fire, in the opposite order."""
    log = sorted(evidence.tables["event_log"], key=lambda row: row["event_offset"])
    last = {
        json.loads(row["body"])["fire_key"]: row["event_offset"]
        for row in log
        if row["event"] == "FireStateChanged"
    }
    offsets = sorted(last.values())
    moved = dict(zip(offsets, reversed(offsets), strict=True))
    shift = len(log) + offsets[-1]
    swapped = [
        {**row, "event_offset": moved[row["event_offset"]] + shift}
        if row["event_offset"] in moved
        else row
        for row in log
    ]
    return replace(evidence, tables={**evidence.tables, "event_log": swapped})


def _two_runs_at_once(evidence: Evidence) -> Evidence:
    """A run that goes on until the next fire of its trigger arrives."""
    receipts = list(evidence.receipts)
    for index, receipt in enumerate(receipts):
        key = (receipt.fire.key.tenant_id, receipt.fire.key.trigger_id)
        version = evidence.version(key, receipt.fire.version)
        if version["overlap_policy"] == "allow" or not receipt.answer.runs:
            continue
        for later in receipts[index + 1 :]:
            if later.fire.key[:2] == key and later.fire.key != receipt.fire.key:
                receipts[index] = receipt._replace(
                    at_us=later.at_us - 1, run_ends_us=later.at_us + 1
                )
                changed = replace(evidence, receipts=receipts)
                if CHECKS["overlap"](changed):
                    return changed
                receipts[index] = receipt
    raise AssertionError("no two runs of a trigger that forbids overlap")


def _next_number_shown(evidence: Evidence) -> Evidence:
    """Tries by the number of the next one, which no try has when the retries were cut off."""
    path = evidence.path.with_name("planted.db")
    with closing(sqlite3.connect(evidence.path)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
        (view,) = copy.execute("SELECT sql FROM sqlite_master WHERE name = 'fire_history'")
        head, _, rest = view[0].partition("CASE WHEN first_dispatched_at IS NULL THEN 0 ELSE (")
        _, _, tail = rest.partition(") END AS attempts")
        by_number = "CASE WHEN first_dispatched_at IS NULL THEN 0 ELSE next_attempt_n - (state IN"
        copy.executescript(
            f"DROP VIEW fire_history; {head}{by_number} ('held', 'ready', 'queued'))"
            f" END AS attempts{tail}"
        )
    return replace(evidence, path=path)


PLANTED_ELSEWHERE: Final[dict[str, tuple[str, Plant]]] = {
    "cancels-claim-after": ("cancels", _claim_after_cancel),
    "decided_once-delivered-twice": ("decided_once", _second_delivery),
    "early-delivery": ("early", _early_delivery),
    "events-ends-reversed": ("events", _last_events_swapped),
    "requests-made-twice": ("requests", _made_twice),
    "requests-replayed-otherwise": ("requests", _replayed_otherwise),
    "requests-repeat-refused": ("requests", _repeat(409)),
    "requests-repeat-not-told": ("requests", _repeat(200)),
    "requests-answered-for-nothing": ("requests", _answered_for_nothing),
    "told-entry-lost": ("told", _entry_lost),
    "order-claims-reversed": ("order", _swapped_claims),
    "silence-claim-after-pause": ("silence", _claim_after(ChangeKind.PAUSED)),
    "silence-claim-after-delete": ("silence", _claim_after(ChangeKind.DELETED)),
    "overlap-two-runs": ("overlap", _two_runs_at_once),
    "tries-by-the-next-number": ("tries", _next_number_shown),
}
