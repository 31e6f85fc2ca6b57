"""The page of metrics, made from the list of their names.

`python -m control_api.metrics_reference > docs/metrics.md` writes it anew.
"""

import sys
from typing import Final

from ports.metric_names import METRICS, Metric, MetricName

_HEAD: Final = """\
# Metrics

Made from `ports/metric_names.py` by `python -m control_api.metrics_reference`; do not edit it by
hand.

`GET /metrics` answers in the text format of Prometheus. In `punctual up` one page shows what the
decider, the dispatcher and the API counted and what the store says; an API that runs as a process
of its own shows its own counts and what the store says.

No label grows with the number of tenants, triggers or callers. What you want to know per tenant or
trigger stands in the ledger: ask the API for fires, backlog or upcoming, or `punctual why`.
"""
_PAGES: Final = """\
## The one that pages

`punctual_oldest_undispatched_due_age_seconds > 60`: somebody's fire is a minute late and has not
gone out. It is computed from the store by the process that answers the scrape, never by the
decider, so that a decider that is up but hangs shows. Page as well when `/metrics` does not answer
or `punctual_store_up` is 0: then nobody knows.
"""
# (what one asks, the query that answers it)
QUESTIONS: Final = (
    (
        "How late is the 99th percentile, per lane?",
        "histogram_quantile(0.99, sum by (lane, le) (rate(punctual_lateness_seconds_bucket[5m])))",
    ),
    (
        "How late was the latest, to the bound of its bucket?",
        "histogram_quantile(1, sum by (lane, le) (increase(punctual_lateness_seconds_bucket[1h])))",
    ),
    (
        "How many on-time fires were over the 5 s budget in 28 days?",
        'sum(increase(punctual_lateness_seconds_count{lane="on_time"}[28d])) - '
        'sum(increase(punctual_lateness_seconds_bucket{lane="on_time",le="5.0"}[28d]))',
    ),
    (
        "Which part of the fires ended unknown? (at most 0.001)",
        'sum(rate(punctual_fires_ended_total{state="unknown"}[1h])) / '
        "sum(rate(punctual_fires_ended_total[1h]))",
    ),
    (
        "Does a partition have no owner?",
        "punctual_partitions - punctual_partitions_leased > 0",
    ),
    ("Do writes fail?", "sum by (error) (rate(punctual_store_write_errors_total[5m])) > 0"),
    (
        "Which part of the attempts succeeded, by class of target?",
        'sum by (target_class) (rate(punctual_attempts_total{result="2xx"}[5m])) / '
        "sum by (target_class) (rate(punctual_attempts_total[5m]))",
    ),
    (
        "How many fires are decided a second, per lane?",
        "sum by (lane) (rate(punctual_fires_decided_total[5m]))",
    ),
    (
        "Are definitions refused?",
        'sum(rate(punctual_api_requests_total{method="PUT",status_class="4xx"}[5m]))',
    ),
)


def metrics_reference() -> str:
    """The whole page as Markdown."""
    read = {name: metric for name, metric in METRICS.items() if metric.read_from_store}
    counted = {name: metric for name, metric in METRICS.items() if not metric.read_from_store}
    return "\n".join(
        (
            _HEAD,
            _PAGES,
            "## Read from the store at each scrape\n",
            "When the store does not answer these are absent, but for `punctual_store_up`, which is"
            "\nthen 0, and the clock's error bound.\n",
            *_table(read),
            "## Counted by each process since it began\n",
            *_table(counted),
            "## Questions\n",
            *(f"{question}\n\n```promql\n{query}\n```\n" for question, query in QUESTIONS),
        )
    ).rstrip("\n")


def _table(metrics: dict[MetricName, Metric]) -> list[str]:
    rows = ["| metric | kind | labels | meaning |", "|---|---|---|---|"]
    rows += (
        f"| `{name}` | {metric.kind}, {metric.unit} | {_labels(metric)} | {_meaning(metric)} |"
        for name, metric in metrics.items()
    )
    return [*rows, ""]


def _labels(metric: Metric) -> str:
    return ", ".join(f"`{label}`" for label in metric.labels)


def _meaning(metric: Metric) -> str:
    if not metric.buckets:
        return metric.meaning
    return f"{metric.meaning}; buckets end at {', '.join(f'{b:g}' for b in metric.buckets)}"


if __name__ == "__main__":
    sys.stdout.write(metrics_reference() + "\n")
