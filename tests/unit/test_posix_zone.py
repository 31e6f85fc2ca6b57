"""The footer rules of zone files."""

from datetime import UTC, datetime, timedelta

import pytest

from scheduling.posix_zone import parse_footer

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("footer", "year", "expected"),
    [
        # New York: 2 a.m. local, forward in March, back in November
        (
            "EST5EDT,M3.2.0,M11.1.0",
            2026,
            [("2026-03-08T07:00", -14_400), ("2026-11-01T06:00", -18_000)],
        ),
        # Nuuk: the rule's hour lies on the day before
        (
            "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
            2024,
            [("2024-03-31T01:00", -3_600), ("2024-10-27T01:00", -7_200)],
        ),
        # Gaza: fifty hours after the day begins
        (
            "EET-2EEST,M3.4.4/50,M10.4.4/50",
            2090,
            [("2090-03-25T00:00", 10_800), ("2090-10-27T23:00", 7_200)],
        ),
        # Lord Howe: half an hour
        (
            "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            2024,
            [("2024-10-05T15:30", 39_600), ("2024-04-06T15:00", 37_800)],
        ),
        # Dublin: daylight saving below zero
        (
            "IST-1GMT0,M10.5.0,M3.5.0/1",
            2024,
            [("2024-10-27T01:00", 0), ("2024-03-31T01:00", 3_600)],
        ),
        # J60 is 1 March in every year, 59 is it in common years only
        ("AAA0BBB,J60/0,300/0", 2024, [("2024-03-01T00:00", 3_600), ("2024-10-26T23:00", 0)]),
        ("AAA0BBB,59/0,J300/0", 2024, [("2024-02-29T00:00", 3_600), ("2024-10-26T23:00", 0)]),
        ("JST-9", 2024, []),
    ],
    ids=["New_York", "Nuuk", "Gaza", "Lord_Howe", "Dublin", "julian", "ordinal", "none"],
)
def test_footer_gives_the_changes_of_a_year(
    footer: str, year: int, expected: list[tuple[str, int]]
) -> None:
    found = [
        ((EPOCH + timedelta(seconds=at)).isoformat()[:16], offset)
        for at, offset in parse_footer(footer).transitions(year)
    ]
    assert found == expected


@pytest.mark.parametrize("footer", ["", "EST", "EST5EDT,M3.2.0", "9AM5"], ids=repr)
def test_footer_that_is_no_rule_is_an_error(footer: str) -> None:
    with pytest.raises(ValueError, match="not a POSIX zone rule"):
        parse_footer(footer)
