"""`punctual preview`: what is shown, what is marked, and how a bad expression is told."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from punctual.cli import cli
from scheduling import tzdata_version
from scheduling.instants import from_text
from tests.support.manual_clock import ManualClock

NOW = "2026-06-01T00:00:00Z"


def preview(*arguments: str) -> Result:
    now_us = from_text(NOW)
    return CliRunner().invoke(
        cli, ["preview", *arguments], obj=ManualClock(now_us, now_us, 0), prog_name="punctual"
    )


def preview_json(*arguments: str) -> Any:
    result = preview(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_preview_shows_local_time_offset_utc_and_weekday() -> None:
    result = preview("0 9 * * MON-FRI", "--zone", "Europe/Berlin", "--count", "2")
    assert result.exit_code == 0
    assert result.stdout == (
        "At 09:00 on Monday to Friday, in Europe/Berlin.\n"
        "\n"
        "local (Europe/Berlin)    offset  UTC\n"
        "Mon 2026-06-01 09:00:00  +02:00  2026-06-01 07:00:00Z\n"
        "Tue 2026-06-02 09:00:00  +02:00  2026-06-02 07:00:00Z\n"
        "\n"
        "No odd night within a year of 2026-06-01: no clock change touches it.\n"
        "Second opinion: croniter agrees on the next 3.\n"
        f"tzdata {tzdata_version()}\n"
    )


def test_preview_marks_an_instant_that_a_gap_moved() -> None:
    # Europe/Berlin 2027-03-28: 02:00 -> 03:00 local, at 01:00Z
    found = preview_json(
        "30 2 * * *", "--zone", "Europe/Berlin", "--from", "2027-03-27T12:00", "--count", "2"
    )
    assert [(each["local"], each["mark"]) for each in found["instants"]] == [
        ("2027-03-28 03:00:00 +02:00", "moved from 02:30, which the clock skips"),
        ("2027-03-29 02:30:00 +02:00", None),
    ]


@pytest.mark.parametrize(
    ("fold", "marks"),
    [
        ("first", [("00:30:00Z", "first pass of a repeated time")]),
        ("last", [("01:30:00Z", "second pass")]),
        (
            "both",
            [("00:30:00Z", "first pass of a repeated time"), ("01:30:00Z", "second pass")],
        ),
    ],
)
def test_preview_marks_the_pass_of_a_fold(fold: str, marks: list[tuple[str, str]]) -> None:
    # Europe/Berlin 2026-10-25: 03:00 -> 02:00 local, at 01:00Z
    arguments = ("30 2 * * *", "--zone", "Europe/Berlin", "--fold", fold, "--from", "2026-10-25")
    found = preview_json(*arguments, "--count", str(len(marks)))
    assert [(each["scheduled_instant"][11:], each["mark"]) for each in found["instants"]] == marks


def test_preview_names_the_odd_nights_of_the_coming_year() -> None:
    result = preview("30 2 * * *", "--zone", "Europe/Berlin")
    assert "Odd nights within a year of 2026-06-01:" in result.stdout
    assert (
        "  Sun 2026-10-25: the clock repeats 02:00 to 03:00; 02:30 counts once, in the first pass "
        "(00:30:00Z)\n"
        "  Sun 2027-03-28: the clock skips 02:00 to 03:00; 02:30 moves to 2027-03-28 03:00:00 "
        "+02:00\n"
    ) in result.stdout


def test_preview_takes_several_expressions_as_one_schedule() -> None:
    found = preview_json("0 9 * * *", "@daily", "--zone", "UTC", "--count", "3")
    assert found["schedule"] == ["0 9 * * *", "@daily"]
    assert [each["scheduled_instant"] for each in found["instants"]] == [
        "2026-06-01T09:00:00Z",
        "2026-06-02T00:00:00Z",
        "2026-06-02T09:00:00Z",
    ]


def test_preview_puts_words_that_the_shell_took_apart_together() -> None:
    assert preview_json("every", "15m", "--zone", "UTC")["schedule"] == ["every 15m"]


def test_preview_derives_h_from_the_name() -> None:
    first = preview_json("H H * * *", "--zone", "UTC", "--name", "acme/nightly", "--count", "1")
    again = preview_json("H H * * *", "--zone", "UTC", "--name", "acme/nightly", "--count", "1")
    other = preview_json("H H * * *", "--zone", "UTC", "--name", "acme/hourly", "--count", "1")
    assert first == again
    assert first["instants"] != other["instants"]


def test_preview_of_what_is_over_says_so() -> None:
    result = preview("at 2020-01-01T00:00", "--zone", "UTC")
    assert result.exit_code == 0
    assert "Not due again: no instant lies ahead.\n" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        pytest.param(("61 9 * * *", "--zone", "UTC"), ("minute: '61': use numbers from 0 to 59",)),
        pytest.param(("", "--zone", "UTC"), ("expression: ",), id="empty"),
        pytest.param(
            ("0 9 * * *", "--zone", "Europe/Brelin"),
            ("--zone: 'Europe/Brelin': not a zone", "did you mean Europe/Berlin?"),
            id="zone",
        ),
        pytest.param(
            ("0", "9", "bin", "etc", "1", "--zone", "UTC"),
            ("day_of_month: 'bin'", "put each expression in quotes"),
            id="unquoted",
        ),
        pytest.param(
            ("H 9 * * *", "--zone", "UTC"), ("minute: 'H'", "add --name TENANT/NAME"), id="hash"
        ),
        pytest.param(
            ("0 9 * * *", "--zone", "UTC", "--name", "nightly"),
            ("--name: 'nightly': write TENANT/NAME",),
            id="name",
        ),
        pytest.param(
            ("0 9 * * *", "--zone", "UTC", "--from", "tomorrow"),
            ("--from: 'tomorrow': write an instant as",),
            id="from",
        ),
        pytest.param(
            ("at 2027-03-28T02:30", "--zone", "Europe/Berlin", "--gap", "skip"),
            ("gap: 'at 2027-03-28T02:30': the clock in Europe/Berlin skips",),
            id="at-in-a-gap",
        ),
    ],
)
def test_preview_refuses_in_one_line_with_field_item_and_remedy(
    arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    result = preview(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert [part for part in parts if part not in result.stderr] == []
