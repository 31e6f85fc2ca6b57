"""What waits on each lane, and when it is expected to have gone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ports.history import HistoryPort
from ports.records import TenantRecord
from ports.registry import RegistryPort
from scheduling.instants import SECOND_US
from scheduling.limits import RATE_WINDOW_US
from scheduling.release import window_cap
from scheduling.vocabulary import Lane

# The releaser counts whole seconds: the current one and the window before it.
_ROUND_US: Final = RATE_WINDOW_US + SECOND_US


class LaneBacklog(NamedTuple):
    """One lane; `ends_us` is None where nothing can be foretold."""

    lane: Lane
    waiting: int
    ends_us: int | None
    assumption: str


@dataclass(frozen=True, slots=True)
class BacklogAnswer:
    """Every lane, of one tenant or (None) of all."""

    tenant_id: str | None
    lanes: tuple[LaneBacklog, ...]


def backlog_answer(
    registry: RegistryPort, history: HistoryPort, *, tenant_id: str | None, now_us: int
) -> BacklogAnswer:
    """The backlog of a tenant, or of all together: the last tenant's end is theirs."""
    waiting = [(each, history.backlog(each.tenant_id)) for each in registry.tenants(tenant_id)]
    return BacklogAnswer(tenant_id, backlog_lanes(waiting, now_us=now_us))


def backlog_lanes(
    waiting: Iterable[tuple[TenantRecord, Mapping[str, int]]], *, now_us: int
) -> tuple[LaneBacklog, ...]:
    """The lanes of some tenants with what waits of each, by lane. Pure."""
    pairs = list(waiting)
    return tuple(_lane(lane, pairs, now_us) for lane in Lane)


def _lane(
    lane: Lane, pairs: list[tuple[TenantRecord, Mapping[str, int]]], now_us: int
) -> LaneBacklog:
    counts = [(tenant, counted.get(lane.value, 0)) for tenant, counted in pairs]
    total = sum(count for _, count in counts)
    if total == 0:
        return LaneBacklog(lane, 0, now_us, "nothing waits")
    if lane is not Lane.CATCH_UP:
        return LaneBacklog(
            lane, total, None, "unknown: no rate holds these back, only endpoints do"
        )
    ends = [_catch_up_end(tenant, count, now_us) for tenant, count in counts if count]
    known = [each for each in ends if each is not None]
    ends_us = max(known) if len(known) == len(ends) else None
    return LaneBacklog(lane, total, ends_us, _assumption([each for each, count in counts if count]))


def _catch_up_end(tenant: TenantRecord, count: int, now_us: int) -> int | None:
    cap = window_cap(tenant.quota_dispatch_per_s, tenant.catchup_rate_pct)
    if cap == 0:
        return None
    return now_us + -(-count // cap) * _ROUND_US


def _assumption(tenants: list[TenantRecord]) -> str:
    stopped = [
        each.tenant_id
        for each in tenants
        if window_cap(each.quota_dispatch_per_s, each.catchup_rate_pct) == 0
    ]
    if stopped:
        return f"unknown: the catch-up rate of {stopped[0]} is 0, so nothing of it goes"
    rest = "if nothing more is missed, no run overlaps and the endpoints answer"
    if len(tenants) > 1:
        return f"each tenant's catch-up at its own rate, {rest}"
    one = tenants[0]
    cap = window_cap(one.quota_dispatch_per_s, one.catchup_rate_pct)
    return (
        f"catch-up at {one.catchup_rate_pct} % of {one.quota_dispatch_per_s:,} fires a second, "
        f"{cap:,} in {_ROUND_US // SECOND_US} s at most, {rest}"
    )
