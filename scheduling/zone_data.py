"""Zones of another data set than the pinned one, given as bytes: to compare, never to decide."""

from collections.abc import Mapping

from scheduling.errors import InvalidRecurrence
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import WallClock, zone_clock
from scheduling.zones import read_zone, refuse_shapeless_name


class ZoneData:
    """A `ClockSource`, which `compile_recurrence` takes in the place of the pinned one.

    Names are looked up in this set alone; what is shared with other sets is shared by content.

    version:  the IANA version, such as `2026a`
    files:    compiled zone files by zone name; each must be one that `read_zone` reads
    """

    __slots__ = ("_clocks", "files", "version")

    def __init__(self, version: str, files: Mapping[str, bytes]) -> None:
        self.version = version
        self.files = files
        self._clocks: dict[tuple[str, GapRule, FoldRule], WallClock] = {}

    def __call__(self, zone: str, gap: GapRule, fold: FoldRule, /) -> WallClock:
        """The tables of a zone name under a pair of rules; InvalidRecurrence(zone)."""
        key = (zone, gap, fold)
        found = self._clocks.get(key)
        if found is None:
            found = self._clocks[key] = zone_clock(read_zone(self._file(zone)), gap, fold)
        return found

    def _file(self, name: str) -> bytes:
        refuse_shapeless_name(name)
        content = self.files.get(name)
        if content is None:
            raise InvalidRecurrence("zone", name, f"not a zone of tzdata {self.version}")
        return content
