"""Every metric: its name from this closed list, with its kind, unit, labels and meaning.

A metric has one set of labels, and no label's values grow with the number of tenants, triggers or
callers: what is asked per tenant is answered by the API, from the ledger.
"""

from typing import Final, Literal, NamedTuple

MetricName = Literal[
    # read from the store when somebody scrapes
    "punctual_store_up",
    "punctual_oldest_undispatched_due_age_seconds",
    "punctual_partitions",
    "punctual_partitions_leased",
    "punctual_clock_epsilon_seconds",
    "punctual_lane_depth_messages",
    "punctual_backlog_fires",
    "punctual_quarantined_triggers",
    "punctual_cursor_ahead_triggers",
    "punctual_cursor_ahead_until_timestamp_seconds",
    "punctual_relay_lag_seconds",
    # counted by the store's transactions, once they are committed
    "punctual_fires_decided_total",
    "punctual_fires_ended_total",
    "punctual_duplicate_keys_total",
    "punctual_store_write_errors_total",
    # counted by the decider
    "punctual_commits_fenced_total",
    "punctual_definition_propagation_seconds",
    # counted by the dispatcher
    "punctual_attempts_total",
    "punctual_attempts_put_back_total",
    "punctual_lateness_seconds",
    "punctual_messages_stale_total",
    # counted by the API
    "punctual_api_requests_total",
    "punctual_api_request_duration_seconds",
]
MetricKind = Literal["counter", "gauge", "histogram"]

# The published bounds, 2 s, 5 s and 60 s, are bounds of buckets: whether a fire kept them is exact.
LATENESS_BUCKETS_S: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0),
    *(300.0, 900.0, 3_600.0),
)
DURATION_BUCKETS_S: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metric(NamedTuple):
    """What is known of one metric.

    read_from_store:  it is read at a scrape, by whoever answers it; else each process counts
    buckets:          upper bounds of a histogram's buckets
    """

    kind: MetricKind
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()
    read_from_store: bool = False
    buckets: tuple[float, ...] = ()


def _gauge(unit: str, meaning: str, *, labels: tuple[str, ...] = ()) -> Metric:
    return Metric("gauge", unit, meaning, labels, read_from_store=True)


def _counter(unit: str, meaning: str, *, labels: tuple[str, ...] = ()) -> Metric:
    return Metric("counter", unit, meaning, labels)


def _histogram(meaning: str, buckets: tuple[float, ...], *, labels: tuple[str, ...] = ()) -> Metric:
    return Metric("histogram", "seconds", meaning, labels, buckets=buckets)


METRICS: Final[dict[MetricName, Metric]] = {
    "punctual_store_up": _gauge(
        "boolean", "1 when the store could be read for this scrape; at 0 what is read is absent"
    ),
    "punctual_oldest_undispatched_due_age_seconds": _gauge(
        "seconds",
        "how long ago the oldest on-time fire without an attempt was due, decided or not",
    ),
    "punctual_partitions": _gauge("partitions", "partitions that need an owner"),
    "punctual_partitions_leased": _gauge(
        "partitions", "partitions with an owner whose lease has not expired"
    ),
    "punctual_clock_epsilon_seconds": _gauge(
        "seconds", "bound of the clock error of the machine that answers the scrape"
    ),
    "punctual_lane_depth_messages": _gauge(
        "messages", "messages on a lane that no dispatcher has acknowledged", labels=("lane",)
    ),
    "punctual_backlog_fires": _gauge(
        "fires",
        "fires held, ready or queued; what gaps still hold counts on catch_up",
        labels=("lane",),
    ),
    "punctual_quarantined_triggers": _gauge(
        "triggers", "triggers whose rule could not be evaluated, out of the schedule"
    ),
    "punctual_cursor_ahead_triggers": _gauge(
        "triggers", "triggers decided beyond the present time: silent until it catches up"
    ),
    "punctual_cursor_ahead_until_timestamp_seconds": _gauge(
        "seconds", "when the last of those triggers speaks again; absent when there is none"
    ),
    "punctual_relay_lag_seconds": _gauge(
        "seconds",
        "age of the oldest change that the relay has not published, of triggers or of fires",
        labels=("source",),
    ),
    "punctual_fires_decided_total": _counter(
        "fires",
        "ledger rows that decisions wrote, by lane and first state; a range row counts once",
        labels=("lane", "state"),
    ),
    "punctual_fires_ended_total": _counter(
        "fires",
        "fires that were attempted and reached an end; an outcome after `accepted` is another",
        labels=("state",),
    ),
    "punctual_duplicate_keys_total": _counter(
        "commits", "commits undone because the ledger held one of their rows already"
    ),
    "punctual_store_write_errors_total": _counter(
        "transactions", "write transactions that the store failed, by error", labels=("error",)
    ),
    "punctual_commits_fenced_total": _counter(
        "commits", "commits of a partition refused because another owner holds it"
    ),
    "punctual_definition_propagation_seconds": _histogram(
        "from the acceptance of a change to the look of its partition's owner that saw it",
        DURATION_BUCKETS_S,
    ),
    "punctual_attempts_total": _counter(
        "attempts",
        "attempts that ended, by class of answer or what the transport said instead",
        labels=("lane", "target_class", "result"),
    ),
    "punctual_attempts_put_back_total": _counter(
        "attempts",
        "attempts that the dispatcher could not make, by what it lacked; they count as no try",
        labels=("lack",),
    ),
    "punctual_lateness_seconds": _histogram(
        "from the due time of a fire to the start of its first attempt",
        LATENESS_BUCKETS_S,
        labels=("lane",),
    ),
    "punctual_messages_stale_total": _counter(
        "messages", "messages dropped at the claim: their fire had moved on, or must not go"
    ),
    "punctual_api_requests_total": _counter(
        "requests",
        "requests answered, by route template, method and class of status",
        labels=("route", "method", "status_class"),
    ),
    "punctual_api_request_duration_seconds": _histogram(
        "from the request's head to the answer's", DURATION_BUCKETS_S, labels=("route", "method")
    ),
}
