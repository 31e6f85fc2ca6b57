"""What lies ahead: upcoming instants, the backlog, and the hot seconds of the next day."""

import threading
from collections.abc import Sequence
from typing import Final

from control_api.answers.backlog import backlog_answer
from control_api.answers.expand import Versions
from control_api.answers.hot_seconds import HotSecond, hot_seconds, live_subjects
from control_api.answers.upcoming import (
    UpcomingAnswer,
    upcoming_of_tenant,
    upcoming_of_trigger,
)
from control_api.answers.zone_times import local_text
from control_api.call import Call
from control_api.operations.finding import scope_of, tenant_of, trigger_of
from control_api.problems import ApiProblem, invalid
from control_api.replies import Reply
from scheduling.vocabulary import Lane
from schemas.api.forecasts import (
    BacklogOut,
    CrowdOut,
    HotSecondOut,
    HotSecondsOut,
    LaneBacklogOut,
    SmearOut,
    UpcomingInstant,
    UpcomingOut,
)

# Counting takes seconds of the processor, which the decider of the same process needs as well.
_COUNTING: Final = threading.Lock()
_SHARED: Final = "unknown: the tenant's triggers share the lane"


def upcoming_of(
    call: Call, tenant_id: str, name: str, *, count: int, since_us: int | None
) -> Reply[UpcomingOut]:
    """A trigger's next instants, due after `since_us` or now."""
    trigger = trigger_of(call, tenant_id, name)
    versions = Versions(call.services.store.registry)
    from_us = call.now_us() if since_us is None else since_us
    answer = upcoming_of_trigger(
        call.services.store.registry, trigger, from_us=from_us, count=count
    )
    definition = versions.definition((tenant_id, trigger.trigger_id, trigger.version))
    zone = "UTC" if definition is None else definition.zone
    return Reply(body=_upcoming_out(answer, {trigger.trigger_id: zone}))


def upcoming_of_all(
    call: Call, tenant_id: str, *, count: int, through_us: int | None
) -> Reply[UpcomingOut]:
    """A tenant's next instants of all triggers, by due time."""
    tenant_of(call, tenant_id)
    store = call.services.store
    answer = upcoming_of_tenant(
        store.registry,
        store.history,
        tenant_id,
        now_us=call.now_us(),
        count=count,
        through_us=through_us,
    )
    versions = Versions(store.registry)
    zones: dict[str, str] = {}
    for trigger_id in {each.trigger_id for each in answer.instants}:
        for trigger in store.registry.find_triggers(trigger_id, tenant_id=tenant_id):
            definition = versions.definition((tenant_id, trigger_id, trigger.version))
            zones[trigger_id] = "UTC" if definition is None else definition.zone
    return Reply(body=_upcoming_out(answer, zones))


def read_backlog(
    call: Call, tenant_id: str | None, *, trigger: str | None = None
) -> Reply[BacklogOut]:
    """What waits on each lane, of a tenant or of all, and when it should have gone.

    Of one trigger it says what waits alone: it shares its lanes with the tenant's others.
    """
    tenant_id = scope_of(call, tenant_id, act="read the backlog of all tenants")
    if trigger is not None:
        return _backlog_of_trigger(call, tenant_id, trigger)
    store = call.services.store
    answer = backlog_answer(
        store.registry, store.history, tenant_id=tenant_id, now_us=call.now_us()
    )
    lanes = [
        LaneBacklogOut(
            lane=each.lane,
            waiting=each.waiting,
            ends_at=each.ends_us,
            assumption=each.assumption,
        )
        for each in answer.lanes
    ]
    return Reply(body=BacklogOut(tenant=tenant_id, trigger=None, lanes=lanes))


def _backlog_of_trigger(call: Call, tenant_id: str | None, name: str) -> Reply[BacklogOut]:
    if tenant_id is None:
        raise invalid("trigger", "a trigger is a tenant's: name its `tenant` too")
    trigger = trigger_of(call, tenant_id, name)
    history = call.services.store.history
    waiting = history.backlog(tenant_id, trigger_id=trigger.trigger_id)
    lanes = [
        LaneBacklogOut(
            lane=lane, waiting=waiting.get(lane.value, 0), ends_at=None, assumption=_SHARED
        )
        for lane in Lane
    ]
    return Reply(body=BacklogOut(tenant=tenant_id, trigger=trigger.name, lanes=lanes))


def read_hot_seconds(
    call: Call, tenant_id: str, *, seconds: int, level: int | None
) -> Reply[HotSecondsOut]:
    """The busiest seconds of a tenant's next day; one request at a time in a process."""
    tenant_of(call, tenant_id)
    if not _COUNTING.acquire(blocking=False):
        detail = "another forecast is being counted: try again in a moment"
        raise ApiProblem(429, "busy", detail, headers={"Retry-After": "2"})
    try:
        found = hot_seconds(
            live_subjects(call.services.store.registry, tenant_id),
            now_us=call.now_us(),
            seconds_shown=seconds,
            level=level,
        )
    finally:
        _COUNTING.release()
    return Reply(
        body=HotSecondsOut(
            tenant=tenant_id,
            since=found.from_us,
            until=found.until_us,
            triggers=found.triggers,
            unreadable=found.unreadable,
            instants=found.instants,
            before=_seconds_out(found.before),
            after=_seconds_out(found.after),
            smear=SmearOut(**found.advice._asdict()),
            is_complete=found.is_complete,
        )
    )


def _upcoming_out(answer: UpcomingAnswer, zones: dict[str, str]) -> UpcomingOut:
    items = []
    for each in answer.instants:
        zone = zones.get(each.trigger_id, "UTC")
        items.append(
            UpcomingInstant(
                due_at=each.due_us,
                scheduled_instant=each.instant_us,
                scheduled_local=local_text(zone, each.instant_us),
                zone=zone,
                tenant=each.tenant_id,
                trigger=each.name,
                trigger_id=each.trigger_id,
            )
        )
    return UpcomingOut(items=items, reason=answer.reason, is_complete=answer.is_complete)


def _seconds_out(seconds: Sequence[HotSecond]) -> list[HotSecondOut]:
    return [
        HotSecondOut(
            at=each.at_us,
            count=each.count,
            crowds=[
                CrowdOut(
                    schedule=list(crowd.schedule),
                    zone=crowd.zone,
                    count=crowd.count,
                    names=list(crowd.names),
                )
                for crowd in each.crowds
            ],
        )
        for each in seconds
    ]
