"""The releaser's planner: how many held fires may go now, and which."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from scheduling.instants import SECOND_US
from scheduling.limits import RATE_WINDOW_US

T = TypeVar("T")


def window_cap(quota_dispatch_per_s: int, rate_pct: int) -> int:
    """Fires that a lane may release in any ten seconds; at least one, unless the rate is 0."""
    if rate_pct <= 0 or quota_dispatch_per_s <= 0:
        return 0
    return max(1, quota_dispatch_per_s * rate_pct * (RATE_WINDOW_US // SECOND_US) // 100)


def bucket_of(now_us: int) -> int:
    """The one-second bucket in which a release at `now_us` is counted."""
    return now_us // SECOND_US * SECOND_US


def allowance(released: Mapping[int, int], *, now_us: int, cap: int) -> int:
    """What is left of the cap: counts all one-second buckets that any window may still hold.

    `released` maps bucket to count. Counting whole buckets, the current one and ten before it,
    keeps the cap in *any* ten seconds and not only in aligned ones.
    """
    oldest_us = bucket_of(now_us) - RATE_WINDOW_US
    recent = sum(count for bucket_us, count in released.items() if bucket_us >= oldest_us)
    return max(0, cap - recent)


def round_robin(waiting: Mapping[str, Sequence[T]], *, allowed: int) -> list[T]:
    """Up to `allowed` items, one of each trigger in turn, oldest first inside a trigger.

    `waiting` maps trigger id to its held fires, oldest first, in the order of the turn.
    """
    chosen: list[T] = []
    depth = 0
    while len(chosen) < allowed:
        layer = [items[depth] for items in waiting.values() if len(items) > depth]
        if not layer:
            break
        chosen.extend(layer[: allowed - len(chosen)])
        depth += 1
    return chosen
