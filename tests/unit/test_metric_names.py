"""The list of metrics: complete, used as declared, and documented."""

import re
from functools import cache
from pathlib import PurePosixPath
from typing import get_args

import pytest

from control_api.metrics_reference import QUESTIONS, metrics_reference
from ports.metric_names import METRICS, MetricName
from tests.support.repository import repository_files, text_of
from tests.support.tidy_metrics import miscalled_metrics, uncounted_metrics

LABELS = {str(name): metric.labels for name, metric in METRICS.items()}


@cache
def _modules() -> list[str]:
    """The product's modules: what only tests count is not counted."""
    paths = (
        path
        for path in repository_files()
        if path.suffix == ".py" and path.parts[0] not in ("tests", "bench")
    )
    return [text for path in paths if (text := text_of(path)) is not None]


def test_metrics_are_described_in_the_order_of_their_names() -> None:
    assert tuple(METRICS) == get_args(MetricName)


@pytest.mark.parametrize("name", METRICS)
def test_metric_name_ends_as_its_kind_and_unit_demand(name: MetricName) -> None:
    metric = METRICS[name]
    if metric.kind == "counter":
        assert name.endswith("_total")
    elif metric.unit == "boolean":
        assert not name.endswith("_total")
    else:
        assert re.search(rf"_{metric.unit}(_leased)?$", name) or name.endswith("_triggers")
    assert (metric.kind == "histogram") == bool(metric.buckets)
    assert metric.read_from_store == (metric.kind == "gauge")


def test_metrics_are_all_counted() -> None:
    assert uncounted_metrics(LABELS, _modules()) == []


def test_metrics_are_called_with_their_own_labels() -> None:
    assert list(miscalled_metrics(LABELS, _modules())) == []


@pytest.mark.parametrize(
    ("module", "complaint"),
    [
        ('metrics.count("punctual_a", 2, lane="x")', None),
        ('_sample("punctual_a", 2, lane="x")', None),
        ('words.count("a")', None),
        ('metrics.count("punctual_a")', "punctual_a has the labels ('lane',)"),
        ('metrics.record("punctual_a", 1, lane="x", tenant="y")', "has the labels"),
        ('metrics.count("punctual_b")', "punctual_b is not the name of a metric"),
        ("metrics.count(name)", "None is not the name"),
        ('metrics.count("punctual_a", **labels)', "has the labels"),
    ],
)
def test_metric_rule_on_a_call_complains_of_other_names_and_labels(
    module: str, complaint: str | None
) -> None:
    found = list(miscalled_metrics({"punctual_a": ("lane",)}, [module]))
    assert len(found) == (complaint is not None)
    assert all(complaint is not None and complaint in each for each in found)


def test_metric_rule_on_a_metric_that_nobody_counts_names_it() -> None:
    calls = ['x = "punctual_b"\nmetrics.count("punctual_a")']
    assert uncounted_metrics(["punctual_a", "punctual_b"], calls) == ["punctual_b"]


def test_metrics_page_in_the_docs_is_what_the_list_says() -> None:
    page = text_of(PurePosixPath("docs/metrics.md"))
    remedy = "run: python -m control_api.metrics_reference > docs/metrics.md"
    assert page == metrics_reference() + "\n", remedy


@pytest.mark.parametrize("query", [query for _, query in QUESTIONS])
def test_metrics_page_asks_only_for_metrics_and_labels_that_exist(query: str) -> None:
    named = set(re.findall(r"punctual_\w+?(?=_bucket|_count|\b)", query))
    assert named
    assert named <= set(METRICS)
    labels = {label for name in named for label in LABELS[name]} | {"le"}
    assert set(re.findall(r"(\w+)=\"", query)) <= labels
    grouped = re.findall(r"by \(([\w, ]+)\)", query)
    assert {label for group in grouped for label in group.split(", ")} <= labels
