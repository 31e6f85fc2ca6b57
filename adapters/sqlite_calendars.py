"""Exclusion calendars: their revisions, and the triggers that follow them, in one transaction."""

import json
from dataclasses import replace
from datetime import date

from adapters.sqlite_change_session import ChangeSession, check_revision, differing
from adapters.sqlite_definitions import definition_of, definition_problems
from adapters.sqlite_refused import Refused, refused
from adapters.sqlite_spans import TriggerRow
from adapters.sqlite_trigger_changes import new_version
from ports.changes import ChangeKind, ChangeResult, DeleteCalendar, PutCalendar
from ports.errors import ChangeProblem, ProblemKind
from ports.records import TriggerDefinition
from scheduling.calendars import ExclusionCalendar, calendar_dates, read_dates
from scheduling.errors import InvalidRecurrence
from scheduling.limits import CALENDAR_TRIGGERS_MAX, CALENDARS_PER_TRIGGER_MAX, NAME_CHARS_MAX
from scheduling.vocabulary import TriggerState

CalendarKey = tuple[str, str]


def put_calendar(session: ChangeSession, change: PutCalendar) -> ChangeResult:
    """A new revision, and a new version of every trigger that uses the calendar."""
    key = (change.tenant_id, change.calendar_id)
    session.need_tenant(change.tenant_id)
    found = session.execute("calendar_current", *key).fetchone()
    current = 0 if found is None else found[0]
    check_revision(
        f"calendar {'/'.join(key)}",
        change.expected_revision,
        found=current,
        must_exist=change.must_exist,
    )
    own, dates = _dates(key, change)
    own_texts = sorted({day.isoformat() for day in own})
    content = (json.dumps(change.rules), json.dumps(own_texts))
    if found is not None and found[1:] == content:
        return _result(ChangeKind.UNCHANGED, key, current)
    (newest,) = session.execute("calendar_newest_revision", *key).fetchone()
    revision = newest + 1
    calendar = ExclusionCalendar(change.calendar_id, revision, dates)
    all_dates = json.dumps([day.isoformat() for day in dates])
    session.execute("calendar_put", *key, revision, session.now_us)
    session.context.versions.wrote_calendar((*key, revision))
    session.execute(
        "calendar_insert_version",
        *key,
        revision,
        *content,
        all_dates,
        session.actor,
        session.now_us,
    )
    prior = None
    if found is not None:
        prior = {"revision": current, "rules": json.loads(found[1]), "dates": json.loads(found[2])}
    now = {"revision": revision, "rules": list(change.rules), "dates": own_texts}
    session.audit("calendar_put", *key, prior=prior, new=differing(prior, now))
    if found is not None:
        _follow(session, key, calendar)
    return _result(ChangeKind.CREATED if found is None else ChangeKind.EDITED, key, revision)


def delete_calendar(session: ChangeSession, change: DeleteCalendar) -> ChangeResult:
    """Delete it unless a trigger uses it; its revisions stay with the versions that name them."""
    key = (change.tenant_id, change.calendar_id)
    found = session.execute("calendar_current", *key).fetchone()
    if found is None:
        text = f"calendar: {change.tenant_id} has no calendar {change.calendar_id!r}"
        raise refused(text, ProblemKind.NOT_FOUND, "calendar")
    check_revision(f"calendar {'/'.join(key)}", change.expected_revision, found=found[0])
    user = session.execute("calendar_users", *key, 1).fetchone()
    if user is not None:
        text = (
            f"calendar: {'/'.join(key)} is used by the trigger {user[0]!r}: take it out of its "
            "triggers first"
        )
        raise refused(text, ProblemKind.CONFLICT, "calendar")
    session.execute("calendar_delete", *key)
    prior = {"revision": found[0], "rules": json.loads(found[1]), "dates": json.loads(found[2])}
    session.audit("calendar_deleted", *key, prior=prior)
    return _result(ChangeKind.DELETED, key, found[0])


def with_calendars(
    session: ChangeSession, tenant_id: str, name: str, definition: TriggerDefinition
) -> tuple[TriggerDefinition, list[ChangeProblem]]:
    """The definition with the current revisions of the calendars that it names, and what fails."""
    names = sorted(set(definition.calendars))
    subject = f"{tenant_id}/{name}: calendars:"
    if len(names) > CALENDARS_PER_TRIGGER_MAX:
        text = f"{subject} {len(names)} of them; at most {CALENDARS_PER_TRIGGER_MAX}: join some"
        return definition, [ChangeProblem(text, ProblemKind.INVALID, "calendars")]
    calendars: list[ExclusionCalendar] = []
    problems: list[ChangeProblem] = []
    for calendar_id in names:
        found = session.execute("calendar_current", tenant_id, calendar_id).fetchone()
        if found is None:
            text = f"{subject} {tenant_id} has no calendar {calendar_id!r}"
            problems.append(ChangeProblem(text, ProblemKind.INVALID, "calendars"))
        else:
            key = (tenant_id, calendar_id, found[0])
            calendars.append(session.context.versions.calendar(session.connection, key))
    filled = replace(definition, calendars=tuple(names), exclusion_calendars=tuple(calendars))
    return filled, problems


def _follow(session: ChangeSession, key: CalendarKey, calendar: ExclusionCalendar) -> None:
    """A new version of every trigger that uses the calendar; each settles what came before."""
    users = session.execute("calendar_users", *key, CALENDAR_TRIGGERS_MAX + 1).fetchall()
    if len(users) > CALENDAR_TRIGGERS_MAX:
        text = (
            f"calendar: {'/'.join(key)} is used by more than {CALENDAR_TRIGGERS_MAX} triggers, too "
            "many for one change: make a second calendar, and move the triggers to it in parts"
        )
        raise refused(text, ProblemKind.CONFLICT, "calendar")
    problems: list[ChangeProblem] = []
    for name, trigger_id, state, *rest in users:
        trigger = TriggerRow(trigger_id, TriggerState(state), *rest)
        problems += _follow_one(session, key[0], name, trigger, calendar=calendar)
    if problems:
        raise Refused(problems)


def _follow_one(
    session: ChangeSession,
    tenant_id: str,
    name: str,
    trigger: TriggerRow,
    *,
    calendar: ExclusionCalendar,
) -> list[ChangeProblem]:
    """What forbids it, under the names of the trigger."""
    versions, connection = session.context.versions, session.connection
    facts = versions.facts(connection, (tenant_id, trigger.trigger_id, trigger.version))
    definition = definition_of(facts)
    previous = {each.calendar_id: each for each in definition.exclusion_calendars}
    following = {**previous, calendar.calendar_id: calendar}
    definition = replace(definition, exclusion_calendars=tuple(following.values()))
    problems = definition_problems(tenant_id, name, definition)
    if problems:
        return problems
    new_version(
        session,
        tenant_id,
        name,
        trigger,
        definition=definition,
        kept_payload_ref=facts.payload_ref,
        prior={"calendar_revision": previous[calendar.calendar_id].revision},
        new={"calendar_revision": calendar.revision},
        note=f"calendar {calendar.calendar_id} has revision {calendar.revision} now",
    )
    return []


def _dates(key: CalendarKey, change: PutCalendar) -> tuple[tuple[date, ...], tuple[date, ...]]:
    """Its own dates and all of them."""
    try:
        if not 0 < len(change.calendar_id) <= NAME_CHARS_MAX:
            reason = f"has {len(change.calendar_id)} characters; use 1 to {NAME_CHARS_MAX}"
            raise InvalidRecurrence("name", "", reason)
        own = read_dates(change.dates)
        return own, calendar_dates(change.rules, own)
    except InvalidRecurrence as error:
        text = f"calendar {'/'.join(key)}: {error}"
        raise refused(text, ProblemKind.INVALID, error.field) from None


def _result(kind: ChangeKind, key: CalendarKey, revision: int) -> ChangeResult:
    return ChangeResult(kind=kind, subject=key[1], tenant_id=key[0], revision=revision)
