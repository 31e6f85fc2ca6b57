"""What the store and the clock say at this moment, read by whoever answers a scrape.

Never by the decider: a decider that hangs must show in these numbers.
"""

import threading
from collections.abc import Iterable
from typing import Final, NamedTuple

from ports import metrics
from ports.errors import PortError
from ports.history import HistoryPort
from ports.lanes import LanesPort
from ports.metric_names import MetricName
from ports.outbox import RELAY_ID
from ports.records import Lease
from ports.store import Store
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import ClockReading, GateState, GateVerdict, observe
from scheduling.instants import SECOND_US
from scheduling.limits import LEASE_TTL_S_MAX

CURSOR_LOOK_US: Final = 60 * SECOND_US  # between two looks at how far the cursors are ahead
_TTL_US_MAX: Final = round(LEASE_TTL_S_MAX * SECOND_US)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Sample(NamedTuple):
    """One value of a metric; labels with their names, in the metric's order."""

    name: MetricName
    value: float
    labels: tuple[tuple[str, str], ...] = ()


class ClockWatch:
    """What one process has seen of its clock, and of cursors ahead of it. Thread-safe."""

    def __init__(self, history: HistoryPort, clock: TimeAuthorityPort) -> None:
        self._history = history
        self._clock = clock
        self._lock = threading.Lock()
        self._gate = GateState()
        self._ahead: tuple[int, int] | None = None
        self._looked_boot_us: int | None = None

    def look(self) -> tuple[ClockReading, GateVerdict]:
        """A reading, judged."""
        with self._lock:
            reading = self._clock.now()
            self._gate, verdict = observe(self._gate, reading)
            if verdict.step_us:
                self._looked_boot_us = None
        return reading, verdict

    def ahead(self, reading: ClockReading) -> tuple[int, int] | None:
        """How many triggers are decided beyond now, and until when; None for none. PortError.

        It reads the whole due index, so it is asked after a step and once a minute only.
        """
        with self._lock:
            looked_us = self._looked_boot_us
            if looked_us is None or reading.boot_us - looked_us >= CURSOR_LOOK_US:
                self._ahead = self._history.decided_ahead(reading.latest_us)
                self._looked_boot_us = reading.boot_us
            ahead = self._ahead
        return None if ahead is None or ahead[1] <= reading.latest_us else ahead


def store_signals(store: Store, lanes: LanesPort, watch: ClockWatch) -> tuple[Sample, ...]:
    """Every metric that is read at a scrape. A store that fails leaves out all that it holds."""
    reading, _ = watch.look()
    epsilon = _sample("punctual_clock_epsilon_seconds", reading.epsilon_us / SECOND_US)
    try:
        read = (
            *_of_decisions(store, reading),
            *_of_relay(store, reading),
            *_of_lanes(store, lanes),
            *_of_cursors(watch.ahead(reading)),
        )
    except PortError:
        return (_sample("punctual_store_up", 0), epsilon)
    return (_sample("punctual_store_up", 1), epsilon, *read)


def unleased_partitions(leases: Iterable[Lease], *, now_us: int) -> list[int]:
    """Partitions that nobody decides: without owner, or with a lease that is no good any more."""
    return [
        lease.partition_id
        for lease in leases
        if lease.owner_id is None or not now_us < lease.expires_us <= now_us + _TTL_US_MAX
    ]


def tell_request(*, route: str | None, method: str, status: int, duration_s: float) -> None:
    """Count one answered request; `route` is its template, None where none matched."""
    # Both are bounded: what a caller makes up may not become a label.
    route, method = route or "unmatched", method if method in _METHODS else "other"
    metrics.count(
        "punctual_api_requests_total",
        route=route,
        method=method,
        status_class=f"{status // 100}xx",
    )
    metrics.record("punctual_api_request_duration_seconds", duration_s, route=route, method=method)


def _of_decisions(store: Store, reading: ClockReading) -> tuple[Sample, ...]:
    leases = store.leases.leases()
    unleased = unleased_partitions(leases, now_us=reading.wall_us)
    oldest_us = store.history.oldest_undispatched_due_us()
    return (
        _sample("punctual_oldest_undispatched_due_age_seconds", _age_s(oldest_us, reading)),
        _sample("punctual_partitions", len(leases)),
        _sample("punctual_partitions_leased", len(leases) - len(unleased)),
        _sample("punctual_quarantined_triggers", store.signals.quarantined_triggers()),
    )


def _of_relay(store: Store, reading: ClockReading) -> tuple[Sample, ...]:
    """How far behind the relay is; with fires it begins with its first reading of them."""
    unsent = store.outbox.pending(limit=1)
    triggers_us = unsent[0].created_us if unsent else None
    told = [_sample("punctual_relay_lag_seconds", _age_s(triggers_us, reading), source="triggers")]
    cursor_us = store.outbox.cursor(RELAY_ID)
    if cursor_us is not None:
        changed = store.history.changed_since(cursor_us, limit=1)
        lag_s = _age_s(changed[0].changed_us if changed else None, reading)
        told.append(_sample("punctual_relay_lag_seconds", lag_s, source="fires"))
    return tuple(told)


def _of_lanes(store: Store, lanes: LanesPort) -> tuple[Sample, ...]:
    return (
        *(
            _sample("punctual_lane_depth_messages", depth, lane=lane.value)
            for lane, depth in lanes.depth().items()
        ),
        *(
            _sample("punctual_backlog_fires", waiting, lane=lane)
            for lane, waiting in store.history.backlog().items()
        ),
    )


def _of_cursors(ahead: tuple[int, int] | None) -> tuple[Sample, ...]:
    if ahead is None:
        return (_sample("punctual_cursor_ahead_triggers", 0),)
    triggers, until_us = ahead
    return (
        _sample("punctual_cursor_ahead_triggers", triggers),
        _sample("punctual_cursor_ahead_until_timestamp_seconds", until_us / SECOND_US),
    )


def _age_s(since_us: int | None, reading: ClockReading) -> float:
    """Seconds since then; 0 for what is still to come, or is not at all."""
    return 0.0 if since_us is None else max(0, reading.wall_us - since_us) / SECOND_US


def _sample(name: MetricName, value: float, **labels: str) -> Sample:
    return Sample(name, value, tuple(labels.items()))
