"""Bad input: refused by the name of its field, briefly, without walking through it."""

import pickle

import pytest

from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.grammar import NICKNAMES, AtForm, CronForm, EveryForm, read_expression

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "expression"),
        (" \t ", "expression"),
        ("*", "expression"),
        ("* * * *", "expression"),
        ("* * * * * * *", "expression"),
        ("0 0 1 1 * 2024 2025", "expression"),
        ("daily", "expression"),
        ("@", "expression"),
        ("@reboot", "expression"),
        ("@daily @hourly", "expression"),
        ("@ daily", "expression"),
        ("every", "expression"),
        ("every 15", "expression"),
        ("every m", "expression"),
        ("every 0h", "expression"),
        ("every 1.5h", "expression"),
        ("every -5m", "expression"),
        ("every 10000s", "expression"),
        ("every 5 m", "expression"),
        ("every 5m from", "expression"),
        ("every 5m from 2026-01-01", "expression"),
        ("every 5m from 2026-01-01T00:00Z", "expression"),
        ("every 5m from 2026-02-29T00:00", "expression"),
        ("every 5m from 1899-12-31T00:00", "expression"),
        ("at", "expression"),
        ("at noon", "expression"),
        ("at 2026-12-24", "expression"),
        ("at 2026-12-24T25:00", "expression"),
        ("at 2026-12-24T18:00+01:00", "expression"),
        ("at 2500-01-01T00:00", "expression"),
        ("0 0 * *\n*", "expression"),
        ("0 0 * * *\n", "day_of_week"),
        ("\n0 0 * * *", "minute"),
        ("0 0\x0b* * *", "expression"),
        ("0\x00 0 * * *", "minute"),
        ("0 0 * * *\x7f", "day_of_week"),
        ("\u0665 * * * *", "minute"),
        ("* \uff15 * * *", "hour"),
        ("* * * * * \xb9", "day_of_week"),
        ("0 0 \u2217 * *", "day_of_month"),
        ("0\xa00 * * *", "expression"),
        ("60 * * * *", "minute"),
        ("60 * * * * *", "second"),
        ("* 24 * * *", "hour"),
        ("* * 32 * *", "day_of_month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "day_of_week"),
        ("* * 30 2 *", "day_of_month"),
        ("{0} 0 * * *", "minute"),
        ("%5 * * * *", "minute"),
        ("TZ=UTC 0 0 * * *", "second"),
        ("9" * MEGABYTE + " * * * *", "expression"),
        ("* " * MEGABYTE, "expression"),
        (" " * MEGABYTE, "expression"),
        ("1," * 120 + "1 * * * *", "minute"),
        ("\u0665" * 240 + " * * * *", "minute"),
    ],
    ids=lambda value: ascii(value[:20]),
)
def test_expression_that_is_wrong_is_refused_by_field(text: str, field: str) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        compile_recurrence(text, "UTC")
    error = caught.value
    assert error.field == field
    assert len(error.item) <= 40
    assert len(str(error)) < 400
    assert error.reason
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.field, copy.item, copy.reason) == (error.field, error.item, error.reason)
    assert str(copy) == str(error)


@pytest.mark.parametrize("value", [None, 5, b"* * * * *", {}, object(), ["@daily", 5], [[]]])
def test_expression_that_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        compile_recurrence(value, "UTC")  # type: ignore[arg-type]
    assert caught.value.field == "expression"


@pytest.mark.parametrize("name", NICKNAMES)
def test_nickname_in_any_case_is_its_cron_text(name: str) -> None:
    expected = read_expression(NICKNAMES[name], None)
    assert read_expression(f"@{name}", None) == expected
    assert read_expression(f"  @{name.upper()}\t", None) == expected


def test_expression_with_blanks_and_tabs_is_read() -> None:
    expected = CronForm("0", "5", "1", "*", "*", "MON")
    assert read_expression("\t5  1 *\t* MON ", None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("every 90s", EveryForm(90, None)),
        ("EVERY 6H", EveryForm(21_600, None)),
        ("every 2d", EveryForm(172_800, None)),
        ("every 1w from 1970-01-02T00:00:05", EveryForm(604_800, 86_405)),
        ("at 1970-01-02T01:00", AtForm(90_000)),
    ],
)
def test_own_form_is_read(text: str, expected: object) -> None:
    assert read_expression(text, None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* 3 * * *", True),
        ("0 * * * *", True),
        ("0 */2 * * *", True),
        ("*/20 2 * * *", True),
        ("0 0-23 * * *", False),
        ("30 0,20 2 * * *", False),
    ],
)
def test_cron_is_interval_where_minute_or_hour_starts_with_a_star(
    text: str, expected: bool
) -> None:
    form = read_expression(text, None)
    assert isinstance(form, CronForm)
    assert form.is_interval is expected
