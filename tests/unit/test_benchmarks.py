"""The benches' reports, and the published page that is made of them."""

from pathlib import Path

import pytest

from bench.machine import file_system_of, fsync_ms
from bench.page import BEGIN, END, PAGE, RESULTS, reports_in, with_figures
from bench.report import Figure, Relation, Report, line_of, middle, number
from bench.support import percentile

MACHINE = {"processor": "one, 2 cores"}
PAGE_TEXT = f"# Benchmarks\n\n{BEGIN}\nreplaced\n{END}\n\nThe end.\n"


def a_report(*figures: Figure, is_quick: bool = False) -> Report:
    return Report(
        "commit",
        "Decide and commit",
        is_quick,
        settings={"rounds": "three"},
        figures=list(figures),
        machine=MACHINE,
        ran_on="2026-03-02",
    )


def test_benchmarks_page_holds_what_the_committed_reports_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_figures(page, reports_in(RESULTS))


def test_report_written_and_read_is_the_same(tmp_path: Path) -> None:
    report = a_report(middle("fires", [1.0, 3.0, 2.0], "fires/s").claimed(">=", 2))
    report.write(tmp_path / "results" / "commit.json")
    assert Report.read(tmp_path / "results" / "commit.json") == report


def test_reports_of_a_quick_run_are_refused(tmp_path: Path) -> None:
    a_report(is_quick=True).write(tmp_path / "commit.json")
    with pytest.raises(ValueError, match="commit: a quick run"):
        reports_in(tmp_path)


def test_page_with_a_claim_and_information_shows_both_with_their_spread() -> None:
    report = a_report(
        middle("decided", [19_000.0, 21_000.0, 20_500.4], "fires/s").claimed(">=", 20_000),
        Figure("p99", 61.25, "ms").claimed("<", 50),
        Figure("an fsync", 0.1234, "ms"),
    )
    page = with_figures(PAGE_TEXT, [report])
    assert "replaced" not in page
    assert page.startswith(f"# Benchmarks\n\n{BEGIN}\n\n## Decide and commit\n")
    assert page.endswith(f"{END}\n\nThe end.\n")
    assert "| decided | ≥ 20,000 fires/s | 20,500 fires/s | 19,000 to 21,000 | holds |" in page
    assert "| p99 | < 50 ms | 61.2 ms |  | **missed** |" in page
    assert "| an fsync | 0.123 ms |  |" in page
    assert "- rounds: three\n- machine: processor one, 2 cores\n" in page


def test_page_written_twice_stays_the_same() -> None:
    report = a_report(Figure("an fsync", 0.1234, "ms"))
    once = with_figures(PAGE_TEXT, [report])
    assert with_figures(once, [report]) == once


def test_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks the marks"):
        with_figures("# Benchmarks\n", [])


@pytest.mark.parametrize(
    ("relation", "value", "expected"),
    [
        pytest.param(">=", 20, True, id="at_least_met"),
        pytest.param(">=", 19.9, False, id="at_least_missed"),
        pytest.param("<=", 20, True, id="at_most_met"),
        pytest.param("<=", 20.1, False, id="at_most_missed"),
        pytest.param("<", 19.9, True, id="below_met"),
        pytest.param("<", 20, False, id="below_missed"),
    ],
)
def test_claim_holds_by_its_relation(relation: Relation, value: float, expected: bool) -> None:
    assert Figure("x", value, "ms").claimed(relation, 20).holds is expected


def test_line_of_a_missed_claim_says_so() -> None:
    figure = middle("ratio", [1.5, 1.25, 1.75], "x").claimed("<=", 1.2)
    assert line_of(figure) == "MISSED ratio: 1.50 x (1.25 to 1.75) claimed <= 1.20 x"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (20_594.3, "20,594"),
        (100.0, "100"),
        (99.96, "100"),
        (99.9, "99.9"),
        (1.2, "1.20"),
        (0.0123, "0.0123"),
        (3, "3"),
    ],
)
def test_number_has_three_digits_or_no_fraction(value: float, expected: str) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("percent", "expected"), [(50, 50), (99, 99), (99.5, 100), (100, 100), (1, 1)]
)
def test_percentile_of_a_hundred_is_the_value_of_that_rank(percent: float, expected: int) -> None:
    assert percentile(range(100, 0, -1), percent) == expected


def test_percentile_of_few_is_the_largest() -> None:
    assert percentile([3.0, 1.0, 2.0], 99) == 3.0


def test_fsync_probe_leaves_nothing_behind(tmp_path: Path) -> None:
    assert len(fsync_ms(tmp_path, times=3)) == 3
    assert list(tmp_path.iterdir()) == []


def test_file_system_of_proc_is_proc() -> None:
    assert file_system_of(Path("/proc/self")) == "proc"
