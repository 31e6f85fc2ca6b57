"""The log of events: what a relay published, a page at a time."""

import json
from typing import Final

from control_api.call import Call
from control_api.operations.finding import scope_of
from control_api.replies import Reply
from ports.events import PublishedEvent
from scheduling.limits import EVENTS_SEARCHED_MAX
from schemas.api.events import EventOut, EventsOut

_PAGE_ROWS: Final = 500


def list_events(call: Call, *, tenant_id: str | None, after: int, limit: int) -> Reply[EventsOut]:
    """Events after an offset, oldest first; of one tenant as far as one request may search."""
    tenant_id = scope_of(call, tenant_id, act="read the events of all tenants")
    events = call.services.events
    found: list[PublishedEvent] = []
    searched = 0
    next_after = after
    while len(found) < limit and searched < EVENTS_SEARCHED_MAX:
        rows = limit - len(found) if tenant_id is None else _PAGE_ROWS
        page = events.read(after=next_after, limit=rows)
        for each in page:
            searched += 1
            next_after = each.offset
            if tenant_id in (None, each.event.tenant_id):
                found.append(each)
                if len(found) >= limit:
                    break
        if len(page) < rows:
            break
    kept = events.kept()
    return Reply(
        body=EventsOut(
            items=[_event_out(each) for each in found],
            next_after=next_after,
            kept_after=kept.after,
            kept_through=kept.through,
        )
    )


def _event_out(published: PublishedEvent) -> EventOut:
    event = published.event
    return EventOut(
        offset=published.offset,
        event_id=event.event_id,
        event=event.event,
        tenant=event.tenant_id,
        trigger_id=event.trigger_id,
        at=event.at_us,
        body=json.loads(event.body),
    )
