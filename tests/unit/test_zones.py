"""Zones: the names allowed, and offsets that equal the standard library's reading."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import tzdata

from scheduling import InvalidRecurrence, compile_recurrence, tzdata_version, zone_names
from scheduling.zones import END_S, START_S, load_zone, zone_info

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FOOTER_S = 2_500_000_000


@pytest.mark.parametrize(
    "name",
    [
        "",
        "CEST",
        "tzdata.zi",
        "US/Pacific-New",
        "europe/london",
        "EUROPE/LONDON",
        "/usr/share/zoneinfo/UTC",
        "../zones",
        "Europe/../Europe/London",
        "Europe",
        "Europe/London ",
        "+01:00",
        "UTC+1",
        "localtime",
        "\u0415urope/London",
        "Europe/London\0",
        "x" * 1_000_000,
    ],
    ids=lambda name: ascii(name[:24]),
)
def test_zone_name_outside_the_package_is_refused(name: str) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        load_zone(name)
    assert caught.value.field == "zone"
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("value", [None, 1, b"UTC", ["UTC"]], ids=repr)
def test_zone_that_is_not_text_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRecurrence) as caught:
        compile_recurrence("@daily", value)
    assert caught.value.field == "zone"


def test_zone_links_share_one_table() -> None:
    assert load_zone("US/Eastern") is load_zone("America/New_York")
    assert load_zone("UTC").offsets == (0,)


def test_tzdata_version_is_the_packages() -> None:
    assert tzdata_version() == tzdata.IANA_VERSION


def test_every_zone_equals_the_standard_library_around_each_change_and_in_between() -> None:
    seen = set()
    for name in sorted(zone_names()):
        zone = load_zone(name)
        if id(zone) in seen:
            continue
        seen.add(id(zone))
        info = zone_info(name)
        # Later changes come from the footer's rule, which every fifth of them checks well enough.
        changes = [at for at in zone.starts[1:-1] if at < FOOTER_S or at // 86_400 % 5 == 0]
        for at in changes:
            segment = zone.starts.index(at)
            assert _offset(info, at) == zone.offsets[segment], (name, at)
            assert _offset(info, at - 1) == zone.offsets[segment - 1], (name, at)
        segment = 0
        for at in range(START_S, END_S, 367 * 86_400):
            while zone.starts[segment + 1] <= at:
                segment += 1
            assert _offset(info, at) == zone.offsets[segment], (name, at)
    assert len(seen) > 300


def _offset(info: object, second: int) -> int:
    moment = (EPOCH + timedelta(seconds=second)).astimezone(info)  # type: ignore[arg-type]
    shift = moment.utcoffset()
    assert shift is not None
    return int(shift.total_seconds())
