"""`H`: stable, inside its range, spread, and refused where there is nothing to derive it from."""

from collections import Counter

import pytest

from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.day_set import bit_values
from scheduling.fields import parse_field
from scheduling.hashed import resolve_hashed

IDENTITY = ("acme", "report")


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        # Written down once: another value would move every hashed trigger there is.
        ("minute", "H", "8"),
        ("hour", "H", "10"),
        ("day_of_month", "H", "13"),
        ("minute", "H/15", "8-59/15"),
        ("minute", "H(0-29)", "8"),
        ("minute", "H(30-39)/5,0", "33-39/5,0"),
    ],
)
def test_hashed_value_never_changes(field: str, text: str, expected: str) -> None:
    assert resolve_hashed(field, text, IDENTITY) == expected


@pytest.mark.parametrize(
    ("field", "text", "low", "high"),
    [
        ("second", "H", 0, 59),
        ("hour", "h", 0, 23),
        ("day_of_month", "H", 1, 28),
        ("month", "H", 1, 12),
        ("day_of_week", "H", 0, 6),
        ("minute", "H(10-19)", 10, 19),
    ],
)
def test_hashed_values_cover_the_range_evenly(field: str, text: str, low: int, high: int) -> None:
    counts: Counter[int] = Counter()
    for number in range(3_000):
        found = parse_field(field, resolve_hashed(field, text, ("t", f"n{number}")))
        counts.update(bit_values(found.bits))
    assert sorted(counts) == list(range(low, high + 1))
    assert max(counts.values()) < 2 * 3_000 / (high - low + 1)


@pytest.mark.parametrize("text", ["H/15", "H/7", "H/90", "H(5-20)/4", "H(5-20)/40"])
def test_hashed_step_begins_within_its_first_step(text: str) -> None:
    for number in range(50):
        resolved = resolve_hashed("minute", text, ("t", f"n{number}"))
        low = 5 if "(" in text else 0
        high = 20 if "(" in text else 59
        step = int(text.rsplit("/", 1)[1])
        values = bit_values(parse_field("minute", resolved).bits)
        assert low <= values[0] < low + step
        assert values == tuple(range(values[0], high + 1, step))


@pytest.mark.parametrize(
    "text", ["H-5", "HH", "H(5)", "H(9-5)", "H(0-60)", "H/0", "H/", "H(0-99999)", "H(0-5"]
)
def test_hashed_with_bad_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        compile_recurrence(f"{text} * * * *", "UTC", identity=IDENTITY)
    assert caught.value.field == "minute"


def test_hashed_without_identity_is_refused() -> None:
    with pytest.raises(InvalidRecurrence, match="none was given"):
        compile_recurrence("H 3 * * *", "UTC")
