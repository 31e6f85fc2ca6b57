"""The metrics of one process as text for Prometheus: what it counted, and what the store says.

The OpenTelemetry SDK keeps the counts and its Prometheus exporter writes them; the store's gauges
are read anew for each scrape, and are absent where the store does not answer.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from control_api.signals import Sample
from ports import metrics
from ports.metric_names import METRICS


class Exposition:
    """From its making until it is closed, the process counts for it: one at a time."""

    def __init__(self, read_signals: Callable[[], Iterable[Sample]]) -> None:
        """`read_signals` is called for each scrape, on the thread that asks."""
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        self._registry.register(_StoreCollector(read_signals))
        # Neither scope nor target: their labels would stand on every line and say nothing.
        reader = PrometheusMetricReader(
            disable_target_info=True, scope_info_enabled=False, registry=self._registry
        )
        self._provider = MeterProvider(
            [reader],
            resource=Resource.get_empty(),
            exemplar_filter=AlwaysOffExemplarFilter(),
            shutdown_on_exit=False,
        )
        metrics.use(self._provider.get_meter("punctual"))

    def metrics_text(self) -> tuple[bytes, str]:
        """The page and its content type."""
        with self._lock:  # the exporter hands over through a queue that two scrapes would share
            return generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4

    def close(self) -> None:
        """Count nothing any more."""
        metrics.use_none()
        self._provider.shutdown()

    def __enter__(self) -> "Exposition":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _StoreCollector(Collector):
    def __init__(self, read_signals: Callable[[], Iterable[Sample]]) -> None:
        self._read_signals = read_signals

    def collect(self) -> Iterator[GaugeMetricFamily]:
        families: dict[str, GaugeMetricFamily] = {}
        for sample in self._read_signals():
            family = families.get(sample.name)
            if family is None:
                metric = METRICS[sample.name]
                family = GaugeMetricFamily(sample.name, metric.meaning, labels=metric.labels)
                families[sample.name] = family
            family.add_metric([value for _, value in sample.labels], sample.value)
        yield from families.values()
