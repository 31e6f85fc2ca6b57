"""The second opinion: croniter agrees, or a named difference explains why not, or it is refused."""

import random
from datetime import UTC, datetime

import pytest

from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.instants import to_us
from scheduling.known_differences import KNOWN_DIFFERENCES
from scheduling.probe import ProbeResult, probe
from scheduling.recurrence import Recurrence
from tests.support.expressions import random_expression


def _probe(expression: str, zone: str, after: str, **rules: str) -> ProbeResult:
    recurrence = compile_recurrence(expression, zone, **rules)  # type: ignore[arg-type]
    instant = datetime.fromisoformat(after).replace(tzinfo=UTC)
    return probe(expression, zone, recurrence, to_us(instant))


@pytest.mark.parametrize(
    ("expression", "zone", "after"),
    [
        ("*/5 * * * *", "Europe/London", "2026-06-01T00:00"),
        ("*/10 * * * * *", "UTC", "2026-06-01T00:00"),
        ("0 9 * * MON-FRI", "America/New_York", "2026-06-01T00:00"),
        ("0 0 * * 5L", "UTC", "2026-06-01T00:00"),
        ("0 0 15W * *", "UTC", "2026-06-01T00:00"),
        ("0 0 L * *", "UTC", "2026-06-01T00:00"),
        ("0 0 */2 * MON", "UTC", "2026-06-01T00:00"),
        ("0 0 29 2 *", "UTC", "2021-06-01T00:00"),
        ("@weekly", "Asia/Tokyo", "2026-06-01T00:00"),
    ],
)
def test_probe_where_both_agree_needs_no_explanation(
    expression: str, zone: str, after: str
) -> None:
    result = _probe(expression, zone, after)
    assert result.ours_us == result.theirs_us
    assert len(result.ours_us) == 3
    assert result.explained_by == ()


EXAMPLES = {
    "own_form": ("every 15m", "UTC", "2026-06-01T00:00"),
    "sparse": ("0 0 * 2 MON#5", "UTC", "2026-06-01T00:00"),
    # Apia, 2011-12-30 does not exist
    "long_search": ("* * * * DEC FRI#5", "Pacific/Apia", "2011-12-29T05:00"),
    # New York, 2026-03-08 02:00 -> 03:00 and 2026-11-01 02:00 -> 01:00
    "skipped_time": ("*/20 2 * * *", "America/New_York", "2026-03-08T00:00"),
    "repeated_time": ("30 1 * * *", "America/New_York", "2026-11-01T00:00"),
    "wrapped_step": ("0 0 1 Apr-Mar/2 *", "UTC", "2026-01-01T00:00"),
    "single_range": ("0 0 * * SUN-SUN", "UTC", "2026-06-01T00:00"),
    "late_star": ("0 0 13,* * FRI", "UTC", "2026-06-01T00:00"),
    "last_day_forms": ("0 0 L-3 * *", "UTC", "2026-06-01T00:00"),
    "workday_list": ("0 9 1,15W * *", "UTC", "2026-06-01T00:00"),
    "workday_missing": ("0 9 31W * *", "UTC", "2026-06-01T00:00"),
    "special_day_or": ("0 9 15W * MON", "UTC", "2026-06-01T00:00"),
    "mixed_weekdays": ("0 0 * * MON#2,TUE", "UTC", "2026-06-01T00:00"),
}


def test_every_known_difference_has_an_example_here() -> None:
    assert set(EXAMPLES) == {entry.name for entry in KNOWN_DIFFERENCES}


@pytest.mark.parametrize("name", EXAMPLES)
def test_known_difference_explains_its_example_alone(name: str) -> None:
    result = _probe(*EXAMPLES[name])
    assert result.explained_by == (name,)
    assert result.ours_us != result.theirs_us


@pytest.mark.parametrize(
    ("expression", "after", "rules", "expected"),
    [
        ("30 2 * * *", "2026-03-08T00:00", {}, ()),
        ("30 2 * * *", "2026-03-08T00:00", {"gap": "skip"}, ("skipped_time",)),
        ("30 1 * * *", "2026-11-01T00:00", {"fold": "both"}, ()),
        ("30 1 * * *", "2026-11-01T00:00", {"fold": "last"}, ("repeated_time",)),
    ],
)
def test_probe_reads_the_rules_of_the_recurrence(
    expression: str, after: str, rules: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert _probe(expression, "America/New_York", after, **rules).explained_by == expected


def test_probe_of_an_unexplained_difference_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def astray(text: str, zone: str, **rules: object) -> Recurrence:
        return compile_recurrence("1 9 * * *", "UTC")

    recurrence = compile_recurrence("0 9 * * *", "UTC")
    monkeypatch.setattr("scheduling.probe.compile_recurrence", astray)
    with pytest.raises(InvalidRecurrence) as caught:
        probe("0 9 * * *", "UTC", recurrence, 0)
    assert caught.value.field == "expression"
    assert "1970-01-01T09:01:00Z" in caught.value.reason
    assert "1970-01-01T09:00:00Z" in caught.value.reason


def test_probe_of_a_union_asks_for_each_member() -> None:
    texts = ["0 9 * * *", "30 9 * * MON-FRI"]
    recurrence = compile_recurrence(texts, "UTC")
    result = probe(texts, "UTC", recurrence, to_us(datetime(2026, 6, 1, tzinfo=UTC)))
    assert result.ours_us == result.theirs_us
    assert list(result.ours_us) == recurrence.between_us(
        to_us(datetime(2026, 6, 1, tzinfo=UTC)), 10**18, 3
    )
    with_own = probe([*texts, "every 5m"], "UTC", recurrence, 0)
    assert with_own.theirs_us is None
    assert with_own.explained_by == ("own_form",)


def test_probe_leaves_window_and_exclusions_aside() -> None:
    recurrence = compile_recurrence("@daily", "UTC", ends_at=datetime(2026, 1, 2, tzinfo=UTC))
    result = probe("@daily", "UTC", recurrence, to_us(datetime(2026, 6, 1, tzinfo=UTC)))
    assert len(result.ours_us) == 3
    assert result.explained_by == ()


def test_croniter_differs_from_random_expressions_only_as_known() -> None:
    chance = random.Random(20260601)
    agreed = explained = 0
    for _ in range(600):
        case = random_expression(chance)
        try:
            recurrence = compile_recurrence(case.expression, case.zone)
        except InvalidRecurrence:
            continue
        result = probe(case.expression, case.zone, recurrence, to_us(case.after))
        agreed += not result.explained_by
        explained += bool(result.explained_by)
    assert agreed > 300
    assert explained > 20
