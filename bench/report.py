"""What a bench found, as values: printed, and written as JSON for docs/benchmarks.md.

A figure with a bound is a claim of the product; one without is information.
"""

import argparse
import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal, Self

from bench.machine import machine_facts

Relation = Literal[">=", "<=", "<"]

_HOLDS: Final[dict[Relation, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: the middle of its rounds, with the lowest and the highest of them."""

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    relation: Relation | None = None
    bound: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None for information."""
        if self.relation is None or self.bound is None:
            return None
        return _HOLDS[self.relation](self.value, self.bound)

    def claimed(self, relation: Relation, bound: float) -> "Figure":
        """The same figure as a claim."""
        return Figure(self.name, self.value, self.unit, self.low, self.high, relation, bound)


@dataclass(slots=True)
class Report:
    """All figures of one bench. `settings` says how they were measured, in words."""

    bench: str
    title: str
    is_quick: bool
    settings: dict[str, str] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=machine_facts)
    ran_on: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())

    @classmethod
    def read(cls, path: Path) -> Self:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        facts["figures"] = [Figure(**figure) for figure in facts["figures"]]
        return cls(**facts)

    def write(self, path: Path) -> None:
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def middle(name: str, values: Sequence[float], unit: str) -> Figure:
    """The median of rounds with their spread."""
    return Figure(name, median(values), unit, min(values), max(values))


def bench_parser(description: str | None) -> argparse.ArgumentParser:
    """The options that every reporting bench takes: --quick and --json FILE."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small and short: figures are rough")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there too")
    return parser


def deliver(report: Report, json_file: Path | None) -> None:
    """Print the report, and write it if asked to."""
    for name, value in (report.machine | report.settings).items():
        print(f"{name}: {value}")
    for figure in report.figures:
        print(line_of(figure))
    if json_file is not None:
        report.write(json_file)


def line_of(figure: Figure) -> str:
    """One line: verdict, name, value, spread and bound."""
    verdict = {None: "      ", True: "holds ", False: "MISSED"}[figure.holds]
    parts = [f"{verdict} {figure.name}: {with_unit(figure.value, figure.unit)}"]
    if figure.low is not None and figure.high is not None:
        parts.append(f"({number(figure.low)} to {number(figure.high)})")
    if figure.bound is not None:
        parts.append(f"claimed {figure.relation} {with_unit(figure.bound, figure.unit)}")
    return " ".join(parts)


def with_unit(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".rstrip()


def number(value: float) -> str:
    """Three significant digits, and no digits after the point from 100 on."""
    if value == round(value) or abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:#.3g}"
