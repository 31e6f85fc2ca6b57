"""The page of metrics: what was counted, in the format of Prometheus."""

from collections.abc import Iterator

import pytest

from control_api.exposition import Exposition
from control_api.signals import Sample, tell_request
from ports import metrics
from ports.metric_names import METRICS, MetricName
from tests.support.metrics_page import values_of

DEPTH: MetricName = "punctual_lane_depth_messages"


@pytest.fixture
def page() -> Iterator[Exposition]:
    with Exposition(lambda: ()) as page:
        yield page


def test_page_shows_counters_without_labels_from_the_start(page: Exposition) -> None:
    bare = [n for n, metric in METRICS.items() if metric.kind == "counter" and not metric.labels]
    assert values_of(page) == dict.fromkeys(bare, 0)


def test_page_adds_up_counts_by_their_labels(page: Exposition) -> None:
    metrics.count("punctual_fires_ended_total", state="unknown")
    metrics.count("punctual_fires_ended_total", 2, state="unknown")
    metrics.count("punctual_fires_ended_total", state="accepted")
    values = values_of(page)
    assert values["punctual_fires_ended_total{state=unknown}"] == 3
    assert values["punctual_fires_ended_total{state=accepted}"] == 1


@pytest.mark.parametrize(
    ("late_s", "first_bound", "bound_before"),
    [
        pytest.param(2.0, "2.0", "1.0", id="at_2_s"),
        pytest.param(2.001, "5.0", "2.0", id="over_2_s"),
        pytest.param(5.0, "5.0", "2.0", id="at_5_s"),
        pytest.param(5.001, "10.0", "5.0", id="over_5_s"),
        pytest.param(60.0, "60.0", "30.0", id="at_60_s"),
        pytest.param(60.001, "300.0", "60.0", id="over_60_s"),
    ],
)
def test_page_tells_lateness_at_the_published_bounds_exactly(
    page: Exposition, late_s: float, first_bound: str, bound_before: str
) -> None:
    metrics.record("punctual_lateness_seconds", late_s, lane="on_time")
    values = values_of(page)
    bucket = "punctual_lateness_seconds_bucket{lane=on_time,le=%s}"
    assert (values[bucket % bound_before], values[bucket % first_bound]) == (0, 1)
    assert values["punctual_lateness_seconds_sum{lane=on_time}"] == late_s


def test_page_counts_a_transaction_once_it_is_committed(page: Exposition) -> None:
    ended = "punctual_fires_ended_total{state=unknown}"
    metrics.count_when_committed("punctual_fires_ended_total", state="unknown")
    assert ended not in values_of(page)
    metrics.tell_committed()
    assert values_of(page)[ended] == 1
    metrics.tell_committed()
    assert values_of(page)[ended] == 1


def test_page_never_counts_a_transaction_that_was_undone(page: Exposition) -> None:
    metrics.count_when_committed("punctual_fires_ended_total", state="unknown")
    metrics.tell_undone()
    metrics.tell_committed()
    assert "punctual_fires_ended_total{state=unknown}" not in values_of(page)


def test_page_reads_the_signals_anew_for_each_scrape() -> None:
    depths = iter((5, 7))
    with Exposition(lambda: (Sample(DEPTH, next(depths), (("lane", "on_time"),)),)) as page:
        key = DEPTH + "{lane=on_time}"
        assert [values_of(page)[key], values_of(page)[key]] == [5, 7]


def test_page_that_is_closed_is_counted_for_no_more() -> None:
    with Exposition(lambda: ()) as page:
        pass
    metrics.count("punctual_duplicate_keys_total")
    assert values_of(page) == {}


def test_page_comes_with_the_content_type_of_its_format(page: Exposition) -> None:
    text, content_type = page.metrics_text()
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE punctual_duplicate_keys_total counter\n" in text


def test_page_names_only_listed_metrics_each_with_its_meaning(page: Exposition) -> None:
    metrics.record("punctual_lateness_seconds", 1, lane="on_time")
    text = page.metrics_text()[0].decode()
    told = [line.removeprefix("# HELP ") for line in text.splitlines() if line.startswith("# HELP")]
    listed = [f"{name} {metric.meaning}" for name, metric in METRICS.items()]
    assert len(told) == 4
    assert set(told) <= set(listed)


@pytest.mark.parametrize(
    ("route", "method", "status", "counted"),
    [
        ("/v1/fires", "GET", 200, "{method=GET,route=/v1/fires,status_class=2xx}"),
        ("/v1/fires", "GET", 404, "{method=GET,route=/v1/fires,status_class=4xx}"),
        (None, "GET", 404, "{method=GET,route=unmatched,status_class=4xx}"),
        ("/v1/fires", "BREW", 405, "{method=other,route=/v1/fires,status_class=4xx}"),
    ],
    ids=["answered", "refused", "no_route", "made_up_method"],
)
def test_request_is_counted_by_labels_that_a_caller_cannot_multiply(
    page: Exposition, route: str | None, method: str, status: int, counted: str
) -> None:
    tell_request(route=route, method=method, status=status, duration_s=0.03)
    values = values_of(page)
    assert values["punctual_api_requests_total" + counted] == 1
    labels = counted.removeprefix("{").removesuffix("}").rpartition(",")[0]
    duration = "punctual_api_request_duration_seconds_sum{%s}"
    assert values[duration % labels] == 0.03
