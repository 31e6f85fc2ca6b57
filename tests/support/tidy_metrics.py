"""Metrics are called by the names and the labels that they are declared with.

Each rule takes the product's modules and the declared metrics, and yields complaints.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

METRIC_CALLS: Final = frozenset({"count", "count_when_committed", "record", "_sample"})
PREFIX: Final = "punctual_"


class MetricCall(NamedTuple):
    """One call of a metric function: `name` is None where it is no text of its own."""

    line: int
    name: str | None
    labels: frozenset[str | None]


def uncounted_metrics(declared: Iterable[str], modules: Iterable[str]) -> list[str]:
    """Declared metrics that no call names."""
    named = {call.name for text in modules for call in metric_calls(text)}
    return [name for name in declared if name not in named]


def miscalled_metrics(
    declared: Mapping[str, tuple[str, ...]], modules: Iterable[str]
) -> Iterator[str]:
    """Calls with a name that is not declared, or with other labels than the metric's."""
    for text in modules:
        for call in metric_calls(text):
            if call.name is None or call.name not in declared:
                yield f"line {call.line}: {call.name} is not the name of a metric"
            elif call.labels != set(declared[call.name]):
                yield f"line {call.line}: {call.name} has the labels {declared[call.name]}"


def metric_calls(text: str) -> Iterator[MetricCall]:
    """Calls of `metrics.*` that count, and of any such function with a metric's name."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function, first = node.func, node.args[0]
        name = first.value if isinstance(first, ast.Constant) else None
        is_named = isinstance(name, str) and name.startswith(PREFIX)
        word = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
        is_ours = isinstance(function, ast.Attribute) and ast.unparse(function.value) == "metrics"
        if word in METRIC_CALLS and (is_named or is_ours):
            labels = frozenset(keyword.arg for keyword in node.keywords)
            yield MetricCall(node.lineno, name if isinstance(name, str) else None, labels)
