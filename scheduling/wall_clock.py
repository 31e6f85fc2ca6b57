"""Where wall time and instants meet: one zone read under one gap rule and one fold rule.

The line of instants is cut into segments of constant offset. A segment owns a range of wall
seconds, and the two rules only decide where those ranges begin and end:

- gap, shift_forward: the later segment also owns the skipped seconds; its instants are clamped to
  its start, so all the skipped ones become the first instant after the gap.
- gap, skip: nobody owns the skipped seconds.
- fold: the earlier segment owns the repeated seconds (first), the later one (last) or both do.
"""

from bisect import bisect_right
from functools import lru_cache
from typing import Protocol

from scheduling.vocabulary import FoldRule, GapRule
from scheduling.zones import Zone, load_zone


class WallClock:
    """Tables of one zone under one pair of rules; immutable, shared by all recurrences.

    starts, offsets:  as in Zone
    naturals:         the wall second at each segment's start
    lows, highs:      the wall seconds a segment owns, low inclusive, high exclusive
    clean_lows, clean_highs: the part of them that maps one to one, in order
    shared_after:     the numbers of the segments that own seconds of their predecessor's
    clamped:          the numbers of the segments that own skipped seconds
    """

    __slots__ = (
        "clamped",
        "clean_highs",
        "clean_lows",
        "highs",
        "lows",
        "naturals",
        "offsets",
        "starts",
        "uneven",
    )

    def __init__(self, zone: Zone, gap: GapRule, fold: FoldRule) -> None:
        starts, offsets = zone
        count = len(offsets)
        naturals = [starts[at] + offsets[at] for at in range(count)]
        lows = list(naturals)
        highs = [starts[at + 1] + offsets[at] for at in range(count)]
        for at in range(1, count):
            skips = offsets[at] > offsets[at - 1]
            if (skips and gap is GapRule.SHIFT_FORWARD) or (not skips and fold is FoldRule.FIRST):
                lows[at] = highs[at - 1]
            elif not skips and fold is FoldRule.LAST:
                highs[at - 1] = lows[at]
        self.starts = starts
        self.offsets = offsets
        self.naturals = tuple(naturals)
        self.lows = tuple(lows)
        self.highs = tuple(highs)
        owned_before = [lows[0], *highs[:-1]]
        owned_after = [*lows[1:], highs[-1]]
        # A day that begins with a clamped instant is not clean, hence the one.
        after_clamps = [
            natural + (low < natural) for natural, low in zip(naturals, lows, strict=True)
        ]
        self.clean_lows = tuple(map(max, after_clamps, lows, owned_before))
        self.clean_highs = tuple(map(min, highs, owned_after))
        self.clamped = tuple(at for at in range(count) if lows[at] < naturals[at])
        self.uneven = tuple(at for at in range(1, count) if lows[at] != highs[at - 1])

    def segment_of(self, second: int) -> int:
        """The number of the segment that holds an epoch second inside the tables."""
        return bisect_right(self.starts, second) - 1

    def instants_of(self, wall: int) -> list[int]:
        """The epoch seconds of one wall second: none, one or two."""
        nearest = max(bisect_right(self.highs, wall) - 1, 0)
        return [
            max(wall - self.offsets[at], self.starts[at])
            for at in range(nearest, min(nearest + 3, len(self.lows)))
            if self.lows[at] <= wall < self.highs[at]
        ]


class ClockSource(Protocol):
    """Where a compiled recurrence gets its clocks: `wall_clock`, or those of another data set."""

    def __call__(self, zone: str, gap: GapRule, fold: FoldRule, /) -> WallClock:
        """The tables of a zone name under a pair of rules; InvalidRecurrence(zone)."""


@lru_cache(maxsize=8192)
def wall_clock(zone: str, gap: GapRule, fold: FoldRule) -> WallClock:
    """The shared tables of a zone name under a pair of rules; InvalidRecurrence(zone)."""
    return zone_clock(load_zone(zone), gap, fold)


@lru_cache(maxsize=4096)
def zone_clock(zone: Zone, gap: GapRule, fold: FoldRule) -> WallClock:
    """One set of tables for all names (links) of a zone."""
    return WallClock(zone, gap, fold)
