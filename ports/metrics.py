"""Counting what happens, over the OpenTelemetry API; without an SDK nothing is kept.

Instruments belong to the process. Whoever shows the metrics calls `use` with the meter of the
provider that it reads from; a call made before goes nowhere. The labels of a call are exactly
those of its metric: a test reads every call.
"""

import threading
from collections import Counter as Counts
from typing import Final

from opentelemetry.metrics import Counter, Histogram, Meter, NoOpMeter

from ports.metric_names import METRICS, MetricName

_UNITS: Final = {"seconds": "s"}  # in the notation of OpenTelemetry; other units are annotations


UncommittedCounts = Counts[tuple[MetricName, tuple[tuple[str, str], ...]]]


class _Uncommitted(threading.local):
    """What the thread's open transaction will have done: (name, labels) to amount."""

    def __init__(self) -> None:
        self.counts: UncommittedCounts = Counts()


_uncommitted = _Uncommitted()


def count(name: MetricName, amount: int = 1, **labels: str) -> None:
    """So many more of it."""
    _counters[name].add(amount, labels)


def record(name: MetricName, value: float, **labels: str) -> None:
    """One value of a histogram, in the metric's unit."""
    _histograms[name].record(value, labels)


def count_when_committed(name: MetricName, amount: int = 1, **labels: str) -> None:
    """So many more of it, should the transaction that this thread is in be committed."""
    _uncommitted.counts[name, tuple(labels.items())] += amount


def tell_committed() -> None:
    """The thread's transaction is committed. Called by the adapter that owns transactions."""
    if _uncommitted.counts:
        for (name, labels), amount in _uncommitted.counts.items():
            _counters[name].add(amount, dict(labels))
        _uncommitted.counts.clear()


def tell_undone() -> None:
    """The thread's transaction was rolled back: nothing of it happened."""
    _uncommitted.counts.clear()


def uncommitted() -> UncommittedCounts:
    """What the thread's open transaction has counted up to here."""
    return _uncommitted.counts.copy()


def tell_undone_since(before: UncommittedCounts) -> None:
    """A part of the thread's transaction was rolled back; `before` is what was counted by then."""
    _uncommitted.counts = before


def use(meter: Meter) -> None:
    """Count with this meter from now on."""
    global _counters, _histograms
    _counters, _histograms = _counters_of(meter), _histograms_of(meter)
    for name, counter in _counters.items():
        if not METRICS[name].labels:
            counter.add(0)  # shown from the start, so that the first increase can be seen


def use_none() -> None:
    """Count nothing."""
    use(NoOpMeter("punctual"))


def _counters_of(meter: Meter) -> dict[MetricName, Counter]:
    return {
        name: meter.create_counter(name, _unit(metric.unit), metric.meaning)
        for name, metric in METRICS.items()
        if metric.kind == "counter"
    }


def _histograms_of(meter: Meter) -> dict[MetricName, Histogram]:
    return {
        name: meter.create_histogram(
            name,
            _unit(metric.unit),
            metric.meaning,
            explicit_bucket_boundaries_advisory=metric.buckets,
        )
        for name, metric in METRICS.items()
        if metric.kind == "histogram"
    }


def _unit(unit: str) -> str:
    return _UNITS.get(unit, f"{{{unit}}}")


_counters = _counters_of(NoOpMeter("punctual"))
_histograms = _histograms_of(NoOpMeter("punctual"))
