"""The ledger on SQLite: claims, results and outcomes."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

from adapters.sqlite_attempts import finish_attempt, retry_policy, seconds_to_us
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_definitions import read_payload
from adapters.sqlite_slots import free_slot
from adapters.sqlite_stop import drop_claimed, stop_retries
from adapters.sqlite_versions import VersionFacts
from ports import log_actions as log
from ports import metrics
from ports.errors import PayloadUnreadable
from ports.ledger import LedgerPort
from ports.records import (
    ClaimedFire,
    ClaimRequest,
    FinishRequest,
    FinishResult,
    LaneMessage,
)
from scheduling.keys import FireKey, trace_parent_of
from scheduling.limits import CLAIM_MARGIN_US, EPSILON_MAX_US
from scheduling.retry import is_too_late
from scheduling.vocabulary import (
    USABLE_OWNERSHIP,
    Cause,
    FireState,
    Lane,
    MissedPolicy,
    Origin,
    OverlapPolicy,
    TriggerState,
)

_STOPPED: Final = {
    TriggerState.PAUSED: Cause.PAUSED,
    TriggerState.DELETED: Cause.DELETED,
}
_CLOCKS_APART_US: Final = 2 * EPSILON_MAX_US  # the decider's clock and this one's, at most
_OUTCOME_AFTER: Final = frozenset(
    {
        FireState.DISPATCHING,
        FireState.ACCEPTED,
        FireState.UNKNOWN,
        FireState.UNDELIVERED,
        FireState.HELD,
        FireState.READY,
        FireState.QUEUED,
    }
)


class SqliteLedger(LedgerPort):
    """See the port; one transaction a call."""

    def __init__(self, context: SqliteContext) -> None:
        self._context = context
        self._sql = context.sql

    def mark_queued(self, messages: Iterable[LaneMessage], *, now_us: int) -> int:
        values = [(now_us, now_us, *message.key, message.n) for message in messages]
        if not values:
            return 0
        with self._context.database.write() as connection:
            return connection.executemany(self._sql["ledger_mark_queued"], values).rowcount

    def claim(self, requests: Sequence[ClaimRequest], *, now_us: int) -> list[ClaimedFire]:
        claimed: list[ClaimedFire] = []
        with self._context.database.write() as connection:
            for request in requests:
                fire = self._claim_one(connection, request, now_us)
                if fire is not None:
                    claimed.append(fire)
        return claimed

    def finish(self, requests: Sequence[FinishRequest]) -> list[FinishResult]:
        with self._context.database.write() as connection:
            results = [
                finish_attempt(
                    connection,
                    self._context,
                    request.key,
                    request.n,
                    result=request.result,
                    now_us=request.ended_us,
                    claimed_until_us=request.claimed_until_us,
                )
                for request in requests
            ]
        return [result for result in results if result is not None]

    def report_outcome(
        self,
        key: FireKey,
        outcome: FireState,
        *,
        now_us: int,
        reported_by: str,
        cause: str | None = None,
    ) -> FinishResult | None:
        if outcome not in (FireState.SUCCEEDED, FireState.FAILED):
            raise ValueError(f"outcome: {outcome} is not an outcome; use succeeded or failed")
        with self._context.database.write() as connection:
            found = connection.execute(self._sql["ledger_fire_for_finish"], key).fetchone()
            if found is None:
                return None
            state, next_n, _, version, _, first_us, _ = found
            if state not in _OUTCOME_AFTER or first_us is None:
                return FinishResult(key, FireState(state))
            version_key = (key.tenant_id, key.trigger_id, version)
            facts = self._context.versions.facts(connection, version_key)
            if now_us > first_us + facts.outcome_window_us:
                return FinishResult(key, FireState(state))
            connection.execute(
                self._sql["ledger_insert_outcome"],
                (*key, outcome.value, now_us, reported_by, cause),
            )
            connection.execute(
                self._sql["ledger_move_fire"],
                (outcome.value, None, None, next_n, now_us, *key),
            )
            metrics.count_when_committed("punctual_fires_ended_total", state=outcome.value)
            ready = free_slot(connection, self._sql, key, now_us=now_us)
        return FinishResult(key, outcome, ready)

    def _claim_one(
        self, connection: sqlite3.Connection, request: ClaimRequest, now_us: int
    ) -> ClaimedFire | None:
        key, n = request
        found = connection.execute(self._sql["ledger_fire_for_claim"], key).fetchone()
        if found is None or found[1] != n or found[0] not in (FireState.READY, FireState.QUEUED):
            return None
        if found[5] > now_us + _CLOCKS_APART_US:
            # The clock was set back since the decision. The sweep publishes it when it is due.
            return None
        facts = self._context.versions.facts(connection, (key.tenant_id, key.trigger_id, found[4]))
        if self._is_stopped(connection, key, found, facts=facts, now_us=now_us):
            return None
        target = connection.execute(
            self._sql["ledger_target"], (key.tenant_id, facts.target_id)
        ).fetchone()
        claimed_until_us = now_us + seconds_to_us(target[1]) + CLAIM_MARGIN_US
        try:
            fire = self._claimed_fire(
                connection, request, found, target=target, claimed_until_us=claimed_until_us
            )
        except PayloadUnreadable as error:
            # The tenant's key was deleted, and with it what this fire would have carried.
            told = f"{error}: restore its keys, or apply its manifest again"
            log.warning("payload_unreadable", fire_key=str(key), error=told)
            if n == 1:
                drop_claimed(
                    connection,
                    self._context,
                    key,
                    cause=Cause.CANCELLED,
                    now_us=now_us,
                    detail=str(error),
                )
            else:
                stop_retries(
                    connection, self._context, key, next_n=n, now_us=now_us, detail=str(error)
                )
            return None
        connection.execute(
            self._sql["ledger_start_attempt"], (claimed_until_us, now_us, now_us, *key)
        )
        connection.execute(self._sql["ledger_insert_attempt"], (*key, n, now_us, claimed_until_us))
        self._note_attempt(connection, key, found, facts=facts, now_us=now_us)
        return fire

    def _is_stopped(
        self,
        connection: sqlite3.Connection,
        key: FireKey,
        found: tuple[Any, ...],
        *,
        facts: VersionFacts,
        now_us: int,
    ) -> bool:
        """Whether the fire must not go after all; what will not be tried again ends here."""
        n, lane, grace_until_us, trigger_state = found[1], found[2], found[6], found[11]
        cause, into_us = _STOPPED.get(trigger_state), None
        if cause is Cause.PAUSED and key.sequence != 0:
            cause = None  # a manual run or a backfill, which no pause forbids
        is_first = n == 1
        if cause is None and not is_first:
            return self._is_out_of_tries(connection, key, found, facts=facts, now_us=now_us)
        if cause is None and is_first and lane == Lane.ON_TIME and found[3] == Origin.SCHED:
            is_late = grace_until_us is not None and now_us > grace_until_us
            if is_late and facts.missed_policy is MissedPolicy.SKIP:
                cause = Cause.SKIPPED_BY_POLICY
            elif is_late and facts.missed_policy is MissedPolicy.FIRE_ONCE_NOW:
                newer = connection.execute(self._sql["ledger_newer_fire"], key[:3]).fetchone()
                if newer is not None:
                    cause, into_us = Cause.COALESCED, newer[0]
        if cause is None:
            return False
        if is_first:
            drop_claimed(
                connection, self._context, key, cause=cause, now_us=now_us, into_us=into_us
            )
        return True

    def _is_out_of_tries(
        self,
        connection: sqlite3.Connection,
        key: FireKey,
        found: tuple[Any, ...],
        *,
        facts: VersionFacts,
        now_us: int,
    ) -> bool:
        """A retry that comes too late, because lanes or dispatchers were away, is none."""
        policy = retry_policy(
            facts,
            Lane(found[2]),
            due_us=found[5],
            first_us=found[7] or now_us,
            retry_until_us=found[13],
        )
        if not is_too_late(policy, now_us):
            return False
        stop_retries(connection, self._context, key, next_n=found[1], now_us=now_us)
        return True

    def _note_attempt(
        self,
        connection: sqlite3.Connection,
        key: FireKey,
        found: tuple[Any, ...],
        *,
        facts: VersionFacts,
        now_us: int,
    ) -> None:
        # Also for a later try: the slot may have ended meanwhile, and been taken again for it.
        if facts.overlap_policy is not OverlapPolicy.ALLOW:
            connection.execute(self._sql["slot_start_run"], (now_us + facts.run_timeout_us, *key))
        if found[1] == 1 and found[2] == Lane.CATCH_UP:
            connection.execute(self._sql["due_clear_pending"], key[:3])

    def _claimed_fire(
        self,
        connection: sqlite3.Connection,
        request: ClaimRequest,
        found: tuple[Any, ...],
        *,
        target: tuple[Any, ...],
        claimed_until_us: int,
    ) -> ClaimedFire:
        tenant_id = request.key.tenant_id
        secrets = (
            read_payload(connection, self._context, tenant_id, payload_ref=ref)
            for ref in target[2:4]
        )
        return ClaimedFire(
            key=request.key,
            n=request.n,
            trigger_name=found[12],
            version=found[4],
            origin=Origin(found[3]),
            lane=Lane(found[2]),
            due_us=found[5],
            claimed_until_us=claimed_until_us,
            tzdata_version=found[10],
            endpoint=target[0],
            timeout_s=target[1],
            is_target_usable=target[4] in USABLE_OWNERSHIP,
            signing_secrets=tuple(secret.decode() for secret in secrets if secret is not None),
            payload=read_payload(connection, self._context, tenant_id, payload_ref=found[8]),
            trace_parent=found[9] or trace_parent_of(request.key),
        )
