"""The local loop's decider: looks at the clock, decides what is due, and keeps things moving.

It is driven step by step by whoever owns the thread, and holds nothing that a decision rests on:
the leases it thinks it has, and when it last looked at what.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from ports import log_actions as log
from ports import metrics
from ports.errors import PortError
from ports.lanes import LanesPort
from ports.records import AuditRecord, CommitResult, LaneMessage
from ports.signals import AcceptedChange
from ports.store import Store
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading, GateReason, GateState, GateVerdict, observe
from scheduling.instants import SECOND_US, to_text
from scheduling.limits import COMMIT_ROWS_MAX, SWEEP_AGE_US

LOOK_US: Final = SECOND_US  # the longest sleep: edits and the clock are looked at this often
PUBLISH_MAX: Final = 1_000  # messages a publication
CHANGES_A_LOOK: Final = 1_000  # whose propagation is measured; more are left for the next look
PARTITIONS_A_COMMIT: Final = 64  # offered to one commit, which takes what its rows allow


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass did, and the wall time at which the next one is wanted."""

    next_us: int
    fires: int = 0
    is_open: bool = True


class Decider:
    """One owner of partitions. Not thread-safe: one thread steps it."""

    def __init__(
        self,
        *,
        store: Store,
        lanes: LanesPort,
        clock: TimeAuthorityPort,
        owner_id: str,
        lease_ttl_us: int,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._clock = clock
        self._owner_id = owner_id
        self._lease_ttl_us = lease_ttl_us
        self._gate = GateState()
        self._reason: GateReason | None = None  # so that the first open look counts as a change
        self._held: dict[int, int] = {}
        self._held_until_us = 0
        self._next_heartbeat_us = 0
        self._next_sweep_us = 0
        self._next_minor_us = 0
        self._due: dict[int, int] = {}
        self._seen: tuple[int, dict[int, int]] | None = None  # what `_due` was read under
        self._change_id: int | None = None  # the newest change that `_due` is known to show
        self._next_due_us: int | None = None
        self._next_wake_us: int | None = None
        self._unmarked: list[LaneMessage] = []
        self._unsure: set[int] = set()  # partitions whose ready rows may not be on a lane yet

    @property
    def partitions(self) -> int:
        """How many partitions this owner believes it holds."""
        return len(self._held)

    def step(self) -> Pass:
        """One pass. PortError means nothing was decided by the part that failed; step again."""
        reading = self._clock.now()
        verdict = self._look_at(reading)
        if verdict.reason is GateReason.EPSILON:
            self._shed(reading)
            return Pass(reading.wall_us + LOOK_US, is_open=False)
        self._keep_leases(reading)
        if not verdict.is_open:
            return Pass(reading.wall_us + LOOK_US, is_open=False)
        self._publish_again()
        fires = self._decide() if self._held else 0
        # Repairs judge claims and runs by the time, so the gate sees their reading too.
        latest = self._clock.now()
        if self._look_at(latest).is_open:
            self._repair(latest)
        return Pass(self._next_us(reading), fires)

    def release(self) -> int:
        """Give the leases up, so that another owner need not wait for their expiry."""
        self._held = {}
        count = self._store.leases.release(self._owner_id, now_us=self._clock.now().wall_us)
        log.info("leases_released", partitions=count)
        return count

    def _look_at(self, reading: ClockReading) -> GateVerdict:
        self._gate, verdict = observe(self._gate, reading)
        if verdict.step_us:
            log.warning("clock_stepped", step_ms=verdict.step_us / 1_000)
            self._audit(reading, "clock_step", f"{verdict.step_us / SECOND_US:+.3f} s")
            # What was due by the old time is due again by the new one, or not yet.
            self._next_heartbeat_us = self._next_sweep_us = self._next_minor_us = 0
        if verdict.reason is not self._reason:
            if verdict.reason is GateReason.EPSILON:
                log.error("clock_bad", epsilon_ms=reading.epsilon_us / 1_000)
            elif verdict.is_open:
                log.info("clock_ok", epsilon_ms=reading.epsilon_us / 1_000)
                self._tell_ahead(reading)
            self._reason = verdict.reason
        return verdict

    def _tell_ahead(self, reading: ClockReading) -> None:
        """What a clock that ran ahead has decided stays decided: nothing fires twice."""
        ahead = self._store.history.decided_ahead(reading.latest_us)
        if ahead is not None:
            triggers, until_us = ahead
            log.error("cursor_ahead", triggers=triggers, silent_until=to_text(until_us))

    def _shed(self, reading: ClockReading) -> None:
        if not self._held:
            return
        self.release()
        note = f"epsilon {reading.epsilon_us / 1_000:.0f} ms"
        self._audit(reading, "clock_bad", note)
        self._next_heartbeat_us = 0

    def _audit(self, reading: ClockReading, action: str, note: str) -> None:
        self._store.audit.append(
            AuditRecord(reading.wall_us, self._owner_id, action, subject="clock", note=note)
        )

    def _keep_leases(self, reading: ClockReading) -> None:
        now_us = reading.wall_us
        if now_us >= self._held_until_us:
            self._held = {}  # not renewed in time: another owner may hold them by now
        if now_us < self._next_heartbeat_us:
            return
        beat = self._store.leases.heartbeat(
            self._owner_id,
            now_us=now_us,
            ttl_us=self._lease_ttl_us,
            epsilon_us=reading.epsilon_us,
        )
        # Not `acquired`: that may have been told to a call whose answer was lost.
        self._unsure |= {p for p, epoch in beat.held.items() if self._held.get(p) != epoch}
        self._held = dict(beat.held)
        self._held_until_us = now_us + self._lease_ttl_us
        self._next_heartbeat_us = now_us + self._lease_ttl_us // 3
        if beat.lost:
            log.info("lease_lost", partitions=len(beat.lost))
        if beat.acquired:
            log.info("leases_acquired", partitions=len(beat.acquired), held=len(beat.held))

    def _publish_again(self) -> None:
        """What is ready goes out before anything new, so that order holds.

        After a take-over, and after a call that failed: it may have had its effect all the same.
        """
        unsure = tuple(sorted(self._unsure & self._held.keys()))
        if unsure:
            self._publish(self._store.repair.ready(self._owner_id, acquired=unsure))
        self._unsure.clear()

    @contextmanager
    def _until_published(self, partition_ids: Iterable[int]) -> Iterator[None]:
        """Around a call that makes fires ready and their publication; a failure leaves a mark."""
        added = set(partition_ids) - self._unsure
        self._unsure |= added
        yield
        self._unsure -= added

    def _decide(self) -> int:
        """Commit what is due, a transaction's worth of partitions at a time, and publish it."""
        fires = 0
        now_us = self._clock.now().earliest_us
        due = self._look_for_due()
        waiting = sorted((p for p in due if due[p] <= now_us), key=due.__getitem__)
        committed = bool(waiting)
        while waiting:
            # A long pass must neither outlive its leases nor overlook a step of the clock.
            reading = self._clock.now()
            if not self._look_at(reading).is_open:
                return fires
            self._keep_leases(reading)
            self._publish_again()
            waiting = [p for p in waiting if p in self._held]
            leases = {p: self._held[p] for p in waiting[:PARTITIONS_A_COMMIT]}
            if not leases:
                break
            with self._until_published(leases):
                results = self._store.due_index.commit_due_many(
                    leases, now_us=reading.earliest_us, row_limit=COMMIT_ROWS_MAX
                )
                fires += self._take_in(results)
            waiting = [p for p in waiting if p not in results or results[p].more]
        self._mark()
        if committed:
            self._look_for_due()
        return fires

    def _look_for_due(self) -> dict[int, int]:
        """The earliest due time of each partition; read again only after somebody committed."""
        seen = (self._store.data_version(), self._held.copy())
        if seen != self._seen:
            changes = self._new_changes()
            self._due = self._store.due_index.next_due(self._held)
            self._seen = seen
            self._tell_propagation(changes)
        self._next_due_us = min(self._due.values(), default=None)
        return self._due

    def _new_changes(self) -> list[AcceptedChange]:
        """Read before the due times, which therefore show them all. Nothing may fail for it."""
        with suppress(PortError):
            if self._change_id is not None:
                return self._store.signals.changes_after(self._change_id, limit=CHANGES_A_LOOK)
            self._change_id = self._store.signals.newest_change_id()
        return []

    def _tell_propagation(self, changes: list[AcceptedChange]) -> None:
        now_us = self._clock.now().wall_us
        for change in changes:
            self._change_id = change.change_id
            if change.partition_id in self._held:
                lag_s = (now_us - change.accepted_us) / SECOND_US
                metrics.record("punctual_definition_propagation_seconds", lag_s)

    def _take_in(self, results: dict[int, CommitResult]) -> int:
        """Publish what became true; the number of fires."""
        ready = [message for result in results.values() for message in result.ready]
        self._send(ready)
        for partition_id, result in results.items():
            if result.fenced:
                log.warning("commit_fenced", partition_id=partition_id)
                metrics.count("punctual_commits_fenced_total")
                self._held.pop(partition_id, None)
                self._next_heartbeat_us = 0
            for quarantined in result.quarantined:
                log.warning("trigger_quarantined", **quarantined._asdict())
        return len(ready)

    def _repair(self, reading: ClockReading) -> None:
        now_us = reading.earliest_us
        repair = self._store.repair
        self._next_wake_us = repair.next_wake_us(self._owner_id)
        has_come = self._next_wake_us is not None and self._next_wake_us <= now_us
        if now_us >= self._next_sweep_us or has_come:
            with self._until_published(self._held):
                self._publish(repair.sweep(self._owner_id, now_us=now_us))
            self._next_sweep_us = now_us + SWEEP_AGE_US
            self._next_wake_us = repair.next_wake_us(self._owner_id)
        if now_us >= self._next_minor_us:
            planned = repair.plan_gaps(self._owner_id, now_us=now_us)
            if planned:
                log.info("repair_planned", fires=planned)
            with self._until_published(self._held):
                released = repair.release(now_us=now_us)
                self._publish(released)
            if released:
                log.info("repair_released", fires=len(released))
            self._next_minor_us = now_us + SECOND_US

    def _next_us(self, reading: ClockReading) -> int:
        """The wall time of the next thing that is known to be due."""
        epsilon_us = reading.epsilon_us
        wanted = [
            self._next_heartbeat_us,
            self._next_sweep_us + epsilon_us,
            self._next_minor_us + epsilon_us,
        ]
        wanted += (
            us + epsilon_us for us in (self._next_due_us, self._next_wake_us) if us is not None
        )
        return min(min(wanted), reading.wall_us + LOOK_US)

    def _publish(self, messages: list[LaneMessage]) -> None:
        self._send(messages)
        self._mark()

    def _send(self, messages: tuple[LaneMessage, ...] | list[LaneMessage]) -> None:
        for start in range(0, len(messages), PUBLISH_MAX):
            self._lanes.publish(messages[start : start + PUBLISH_MAX])
        self._unmarked += messages

    def _mark(self) -> None:
        """One transaction for all that was published; a crash before it repeats a message."""
        messages, self._unmarked = self._unmarked, []
        for start in range(0, len(messages), PUBLISH_MAX):
            self._store.ledger.mark_queued(
                messages[start : start + PUBLISH_MAX], now_us=self._clock.now().wall_us
            )
