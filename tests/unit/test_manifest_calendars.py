"""Exclusion calendars in a manifest: what they become, and how a bad one is told."""

import re
from datetime import date

import pytest

from control_api.manifests.problems import ManifestErrors
from control_api.manifests.text import to_yaml
from scheduling.instants import from_text
from scheduling.limits import CALENDARS_PER_TRIGGER_MAX
from schemas.manifest import CalendarSpec, Manifest
from tests.support.manifests import load_manifest

NOW_US = from_text("2026-06-01T00:00:00Z")
CHRISTMAS = "DTSTART:20261225 RRULE:FREQ=YEARLY"

FULL = f"""\
tenants:
  acme:
    calendars:
      holidays:
        rules: ["{CHRISTMAS};COUNT=2", "EXDATE:20260101"]
        dates: [2026-05-01, 2026-12-25]
      works: {{rules: "{CHRISTMAS};COUNT=1"}}
      none: {{}}
    targets: {{t: {{url: "https://example.com/"}}}}
    defaults: {{zone: Europe/Berlin, target: t, calendars: holidays}}
    triggers:
      one: {{schedule: "@daily"}}
      two: {{schedule: "@daily", calendars: [works, none, works], exclude: [2026-07-01]}}
      three: {{schedule: "@daily", calendars: []}}
"""


def load(text: str) -> Manifest:
    return load_manifest(text, name="m.yaml", now_us=NOW_US, allow_loopback=True)


def refusals(text: str) -> list[str]:
    with pytest.raises(ManifestErrors) as caught:
        load(text)
    lines = str(caught.value).split("\n")
    return [re.sub(r"^m\.yaml:(\d+):\d+:", r"\1:", line) for line in lines]


def with_calendar(*lines: str, trigger: str = "") -> str:
    """A manifest whose calendar's own keys begin on line 5."""
    keys = "".join(f"        {line}\n" for line in lines)
    return (
        f"tenants:\n  acme:\n    calendars:\n      holidays:\n{keys}"
        '    targets: {t: {url: "https://example.com/"}}\n    triggers:\n'
        f'      one: {{schedule: "at 2026-12-25T09:00", zone: UTC, target: t{trigger}}}\n'
    )


def test_calendars_load_rules_and_dates_as_written_and_expand_to_all() -> None:
    holidays = load(FULL).tenants["acme"].calendars["holidays"]
    assert holidays.rules == (f"{CHRISTMAS};COUNT=2", "EXDATE:20260101")
    assert holidays.dates == (date(2026, 5, 1), date(2026, 12, 25))
    assert holidays.all_dates() == (
        date(2026, 1, 1),
        date(2026, 5, 1),
        date(2026, 12, 25),
        date(2027, 12, 25),
    )
    assert load(FULL).tenants["acme"].calendars["none"] == CalendarSpec()


def test_calendars_of_a_trigger_are_its_own_or_the_defaults() -> None:
    manifest = load(FULL)
    triggers = manifest.tenants["acme"].triggers
    assert [triggers[name].calendars for name in ("one", "two", "three")] == [
        ("holidays",),
        ("none", "works"),
        (),
    ]


def test_manifest_with_calendars_reads_back_equal_from_its_yaml() -> None:
    manifest = load(FULL)
    assert load(to_yaml(manifest)) == manifest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            with_calendar('rules: ["EXDATE:20260101", "FREQ=HOURLY"]'),
            "5: tenants.acme.calendars.holidays.rules: text 2: FREQ: 'HOURLY': a calendar is of "
            "whole dates: use DAILY, WEEKLY, MONTHLY or YEARLY",
            id="rule",
        ),
        pytest.param(
            with_calendar("rules: 20260101"),
            "5: tenants.acme.calendars.holidays.rules: write a text, as in "
            '"DTSTART:20261225 RRULE:FREQ=YEARLY", or a list of them',
            id="a-number-as-rule",
        ),
        pytest.param(
            with_calendar(
                'rules: "DTSTART:20260101 RRULE:FREQ=DAILY;COUNT=9999"',
                "dates: [2020-01-01, 2020-01-02]",
            ),
            "4: tenants.acme.calendars.holidays: rules: more than 10000 together: end the rules "
            "with UNTIL, or divide it",
            id="together-too-many",
        ),
        pytest.param(
            with_calendar("dates: [tomorrow]"),
            "5: tenants.acme.calendars.holidays.dates: write dates as 2026-12-24",
            id="date",
        ),
        pytest.param(
            with_calendar("days: [2026-12-25]"),
            "5: tenants.acme.calendars.holidays.days: unknown key 'days': did you mean `dates`?",
            id="unknown-key",
        ),
        pytest.param(
            with_calendar("dates: [2026-01-01]", trigger=", calendars: [holiday]"),
            "8: tenants.acme.triggers.one.calendars: no calendar 'holiday' in this tenant: did you "
            "mean `holidays`?",
            id="unknown-calendar",
        ),
        pytest.param(
            with_calendar("dates: [2026-01-01]", trigger=", calendars: [Holidays]"),
            "8: tenants.acme.triggers.one.calendars: a name is lower-case letters, digits, `.`, "
            "`_` and `-`, and starts and ends with a letter or digit",
            id="no-name",
        ),
        pytest.param(
            with_calendar("dates: [2026-01-01]", trigger=", calendars: [1]"),
            "8: tenants.acme.triggers.one.calendars: write the names of calendars, as in "
            "[holidays]",
            id="a-number-as-name",
        ),
        pytest.param(
            with_calendar(
                "dates: [2026-01-01]",
                trigger=f", calendars: [{', '.join(f'c{n}' for n in range(11))}]",
            ),
            "8: tenants.acme.triggers.one.calendars: at most "
            f"{CALENDARS_PER_TRIGGER_MAX} calendars: join some of them",
            id="too-many-calendars",
        ),
        pytest.param(
            with_calendar(f'rules: "{CHRISTMAS}"', trigger=", calendars: holidays"),
            "8: tenants.acme.triggers.one.calendars: with these dates excluded it would never fire",
            id="nothing-left",
        ),
    ],
)
def test_bad_calendar_is_told_at_its_line_with_the_remedy(text: str, expected: str) -> None:
    assert refusals(text) == [expected]
