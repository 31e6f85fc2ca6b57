"""Exclusion calendars: put, read, list, delete. An edit is a new version of all who use it."""

from control_api.call import Call
from control_api.operations.finding import check_name, needs_match, tenant_of
from control_api.pages import Cursor
from control_api.problems import not_found, shown
from control_api.replies import Reply, etag_after, etag_of
from ports.changes import ChangeKind, ChangeResult, DeleteCalendar, PutCalendar
from ports.errors import ChangeRefused
from ports.principals import GrantKind
from ports.records import CalendarRecord
from schemas.api.calendars import CalendarOut, CalendarShown
from schemas.api.common import Page
from schemas.api.principals import Done
from schemas.manifest import CalendarSpec


def put_calendar(
    call: Call, tenant_id: str, calendar_id: str, body: CalendarSpec
) -> Reply[CalendarOut]:
    """Create a calendar or replace it; its triggers follow in the same transaction."""
    call.require(GrantKind.AUTHOR, tenant_id, act="put a calendar")
    check_name("name", calendar_id)
    tenant_of(call, tenant_id)
    change = PutCalendar(
        tenant_id=tenant_id,
        calendar_id=calendar_id,
        rules=body.rules,
        dates=tuple(day.isoformat() for day in body.dates),
        expected_revision=call.expected_revision if call.match.is_given else 0,
        must_exist=call.match.anything,
    )
    result = _put(call, change)
    created = result.kind is ChangeKind.CREATED
    left = call.services.store.registry.calendar(tenant_id, calendar_id, revision=result.revision)
    if left is None:  # revisions stay, also of a calendar that is deleted
        raise LookupError(f"calendar {calendar_id} has no revision {result.revision}")
    return Reply(
        body=_calendar_out(left),
        status=201 if created else 200,
        etag=etag_after(result),
        location=f"/v1/tenants/{tenant_id}/calendars/{calendar_id}" if created else None,
        replayed=result.replayed,
    )


def get_calendar(call: Call, tenant_id: str, calendar_id: str) -> Reply[CalendarOut]:
    """One calendar with every date that it excludes."""
    calendar = calendar_of(call, tenant_id, calendar_id)
    return Reply(body=_calendar_out(calendar), etag=etag_of(calendar.revision))


def list_calendars(call: Call, tenant_id: str, *, cursor: Cursor) -> Reply[Page[CalendarShown]]:
    """A tenant's calendars by name."""
    tenant_of(call, tenant_id)
    cursor = cursor.of("calendars", tenant_id)
    (after,) = cursor.place(1) or ("",)
    found = call.services.store.registry.calendars(tenant_id, after=after, limit=cursor.limit)
    return Reply(body=cursor.page(found, _calendar_shown, lambda each: (each.calendar_id,)))


def delete_calendar(call: Call, tenant_id: str, calendar_id: str) -> Reply[Done]:
    """Delete a calendar that no trigger uses. A new one of its name goes on counting revisions."""
    call.require(GrantKind.AUTHOR, tenant_id, act="delete a calendar")
    (result,) = call.apply(
        DeleteCalendar(
            tenant_id=tenant_id, calendar_id=calendar_id, expected_revision=call.match.revision
        )
    )
    return Reply(body=Done(change=result.kind, subject=calendar_id), replayed=result.replayed)


def calendar_of(call: Call, tenant_id: str, calendar_id: str) -> CalendarRecord:
    """The calendar of that name; 404 otherwise."""
    tenant_of(call, tenant_id)
    calendar = call.services.store.registry.calendar(tenant_id, calendar_id)
    if calendar is not None:
        return calendar
    raise not_found("calendar", f"{shown(tenant_id)} has no calendar {shown(calendar_id)}")


def _put(call: Call, change: PutCalendar) -> ChangeResult:
    try:
        (result,) = call.apply(change)
    except ChangeRefused as refused:
        if call.match.is_given or not refused.is_stale:
            raise
        wanted = PutCalendar(
            tenant_id=change.tenant_id,
            calendar_id=change.calendar_id,
            rules=change.rules,
            dates=change.dates,
        )
        (result,) = call.apply(wanted, dry_run=True)
        if result.kind is not ChangeKind.UNCHANGED:
            what = f"the calendar {change.tenant_id}/{change.calendar_id}"
            raise needs_match(what) from None
    return result


def _calendar_out(calendar: CalendarRecord) -> CalendarOut:
    return CalendarOut(
        tenant=calendar.tenant_id,
        name=calendar.calendar_id,
        revision=calendar.revision,
        rules=list(calendar.rules),
        dates=list(calendar.own_dates),
        excludes=list(calendar.dates),
    )


def _calendar_shown(calendar: CalendarRecord) -> CalendarShown:
    return CalendarShown(
        tenant=calendar.tenant_id,
        name=calendar.calendar_id,
        revision=calendar.revision,
        rules=list(calendar.rules),
        dates=list(calendar.own_dates),
        count=len(calendar.dates),
        first=calendar.dates[0] if calendar.dates else None,
        last=calendar.dates[-1] if calendar.dates else None,
    )
