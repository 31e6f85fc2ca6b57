"""docs/benchmarks.md from the reports in bench/results: no number in it is typed by hand."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.machine import ROOT
from bench.report import Figure, Report, number, with_unit

RESULTS: Final = ROOT / "bench" / "results"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
BEGIN: Final = "<!-- begin of what `python -m bench --write` writes -->"
END: Final = "<!-- end of what `python -m bench --write` writes -->"
_SIGNS: Final = {">=": "≥", "<=": "≤", "<": "<"}


def reports_in(folder: Path) -> list[Report]:
    """The committed reports by name. ValueError for one of a quick run."""
    reports = [Report.read(path) for path in sorted(folder.glob("*.json"))]
    for report in reports:
        if report.is_quick:
            raise ValueError(f"{report.bench}: a quick run is no figure to publish; run it in full")
    return reports


def with_figures(page: str, reports: Iterable[Report]) -> str:
    """The page with what lies between its two marks replaced. ValueError without the marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks the marks {BEGIN!r} and {END!r}")
    lines = [line for report in reports for line in _section(report)]
    return "\n".join([f"{before}{BEGIN}", "", *lines, f"{END}{after}"])


def _section(report: Report) -> Iterator[str]:
    yield from (f"## {report.title}", "")
    claims = [figure for figure in report.figures if figure.holds is not None]
    others = [figure for figure in report.figures if figure.holds is None]
    if claims:
        yield from _table(("claim", "claimed", "measured", "rounds", ""), map(_claim, claims))
    if others:
        yield from _table(("for information", "measured", "rounds"), map(_information, others))
    yield f"Measured on {report.ran_on} by `python -m bench.bench_{report.bench}`:"
    yield ""
    yield from (f"- {name}: {value}" for name, value in report.settings.items())
    yield f"- machine: {'; '.join(f'{name} {value}' for name, value in report.machine.items())}"
    yield ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _row(head)
    yield _row(["---"] * len(head))
    yield from map(_row, rows)
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _claim(figure: Figure) -> Sequence[str]:
    bound = ""
    if figure.relation is not None and figure.bound is not None:
        bound = f"{_SIGNS[figure.relation]} {with_unit(figure.bound, figure.unit)}"
    verdict = "holds" if figure.holds else "**missed**"
    measured = with_unit(figure.value, figure.unit)
    return (_text(figure.name), bound, measured, _spread(figure), verdict)


def _information(figure: Figure) -> Sequence[str]:
    return (_text(figure.name), with_unit(figure.value, figure.unit), _spread(figure))


def _text(name: str) -> str:
    return name.replace("|", "\\|")


def _spread(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{number(figure.low)} to {number(figure.high)}"
