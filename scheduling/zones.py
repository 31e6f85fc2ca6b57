"""Zones of the pinned tzdata package: the names allowed, and each one's offsets as two arrays."""

import struct
from datetime import date
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo  # noqa: TID251 - only ever from the pinned package's files

import tzdata

from scheduling.errors import InvalidRecurrence
from scheduling.limits import YEAR_MAX, YEAR_MIN
from scheduling.months import day_number
from scheduling.posix_zone import parse_footer

_NAME_CHARS_MAX: Final = 64
START_S: Final = day_number(date(YEAR_MIN, 1, 1)) * 86_400
END_S: Final = day_number(date(YEAR_MAX + 1, 1, 1)) * 86_400
_OFFSET_S_MAX: Final = 26 * 3_600  # RFC 8536; real ones end at 15:13:42
_MARGIN_S: Final = 2 * 86_400  # the first segment begins this long before the first instant


class Zone(NamedTuple):
    """Segments of constant offset: segment i is [starts[i], starts[i + 1]), both epoch seconds.

    `starts` has one entry more than `offsets`: the end of the last segment.
    A NamedTuple so that two names with the same data are one key of one table.
    """

    starts: tuple[int, ...]
    offsets: tuple[int, ...]


def tzdata_version() -> str:
    """The IANA version of the pinned tzdata package, such as `2026a`."""
    return str(tzdata.IANA_VERSION)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Every name a recurrence may use: zones and links of the package, case-sensitive."""
    return frozenset(files("tzdata").joinpath("zones").read_text("ascii").split())


@lru_cache(maxsize=1024)
def load_zone(name: str) -> Zone:
    """The zone of a name; InvalidRecurrence(zone) for any other text."""
    return read_zone(_zone_file(name).read_bytes())


@lru_cache(maxsize=256)
def zone_info(name: str) -> ZoneInfo:
    """The standard library's reading of the same pinned file: the probe's second opinion."""
    with _zone_file(name).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=1024)
def read_zone(content: bytes) -> Zone:
    """The zone of a compiled file, of whatever data set; ValueError says what is wrong with it.

    Shared by all the names with one content (links).
    """
    try:
        zone = _segments(content)
        _refuse_disorder(zone)
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"no zone file that can be used: {error}") from error
    return zone


def refuse_shapeless_name(name: object) -> None:
    """InvalidRecurrence(zone) for what is too long, or no text at all, to be looked up."""
    if not isinstance(name, str):
        raise InvalidRecurrence("zone", type(name).__name__, "must be the name of an IANA zone")
    if len(name) > _NAME_CHARS_MAX:
        reason = f"has {len(name)} characters; no zone's name has more than {_NAME_CHARS_MAX}"
        raise InvalidRecurrence("zone", name[:_NAME_CHARS_MAX], reason)


def _zone_file(name: str) -> Traversable:
    """The zone file of a name; InvalidRecurrence(zone) for a name that is not allowed."""
    refuse_shapeless_name(name)
    if not name:
        raise InvalidRecurrence("zone", "", "is empty; name an IANA zone such as Europe/London")
    if name not in zone_names():
        raise InvalidRecurrence(
            "zone",
            name,
            f"not a zone of tzdata {tzdata_version()}; use a name such as Europe/London or UTC, "
            "in its exact spelling",
        )
    return files("tzdata").joinpath("zoneinfo", *name.split("/"))


def _segments(content: bytes) -> Zone:
    first_offset, changes, footer = _read_tzif(content)
    posix = parse_footer(footer)
    last_at = changes[-1][0] if changes else START_S - 1
    first_year = max(YEAR_MIN, 1970 + last_at // (366 * 86_400))
    for year in range(first_year - 1, YEAR_MAX + 2):
        changes.extend(sorted(item for item in posix.transitions(year) if item[0] > last_at))
    starts, offsets = [START_S - _MARGIN_S], [first_offset]
    for at, offset in changes:
        if at <= starts[0]:
            offsets[0] = offset
        elif offset != offsets[-1] and at < END_S:
            starts.append(at)
            offsets.append(offset)
    return Zone((*starts, END_S), tuple(offsets))


def _refuse_disorder(zone: Zone) -> None:
    if any(later <= earlier for earlier, later in pairwise(zone.starts)):
        raise ValueError("its changes are not in the order of time")
    if max(map(abs, zone.offsets)) > _OFFSET_S_MAX:
        raise ValueError("an offset is beyond a day and two hours")


def _read_tzif(content: bytes) -> tuple[int, list[tuple[int, int]], str]:
    """First offset, (second, offset) changes and footer of a version 2 file (RFC 8536)."""
    skipped = _counts(content, 0)
    version_two = 44 + _block_bytes(skipped, 4)
    counts = _counts(content, version_two)
    _, _, leap_count, time_count, type_count, _ = counts
    if leap_count:
        raise ValueError("a zone file with leap seconds has no place here")
    at = version_two + 44
    times = struct.unpack_from(f">{time_count}q", content, at)
    kinds = content[at + 8 * time_count : at + 9 * time_count]
    types = at + 9 * time_count
    offsets = [struct.unpack_from(">l", content, types + 6 * kind)[0] for kind in range(type_count)]
    footer = content[version_two + 44 + _block_bytes(counts, 8) :].strip(b"\n").decode("ascii")
    changes = [(second, offsets[kind]) for second, kind in zip(times, kinds, strict=True)]
    return offsets[0], changes, footer


def _counts(content: bytes, at: int) -> tuple[int, ...]:
    if content[at : at + 4] != b"TZif" or content[at + 4 : at + 5] < b"2":
        raise ValueError("not a version 2 zone file")
    return struct.unpack_from(">6l", content, at + 20)


def _block_bytes(counts: tuple[int, ...], time_bytes: int) -> int:
    ut_count, standard_count, leap_count, time_count, type_count, char_count = counts
    return (
        time_count * (time_bytes + 1)
        + type_count * 6
        + char_count
        + leap_count * (time_bytes + 4)
        + standard_count
        + ut_count
    )
