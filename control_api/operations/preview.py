"""Preview: what a schedule means before there is a trigger, by the code that will decide it."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from control_api.answers.odd_nights import mark_of
from control_api.answers.preview import Preview, preview_of
from control_api.answers.zone_times import local_text, offset_text, wall_text
from control_api.call import Call
from control_api.definitions import refusal_text
from control_api.operations.finding import check_name, tenant_of
from control_api.operations.trigger_views import odd_night_out
from control_api.problems import invalid, shown
from control_api.replies import Reply
from scheduling import InvalidRecurrence, Recurrence, compile_recurrence, tzdata_version
from scheduling.calendars import ExclusionCalendar
from scheduling.instants import SECOND_US, from_us
from scheduling.smear import smear_us, smear_window_us
from schemas.api.preview import OpinionOut, PreviewIn, PreviewInstant, PreviewOut


class _Named(NamedTuple):
    """What the names in the body add to its schedule; trigger_id None: there is no such trigger."""

    calendars: tuple[ExclusionCalendar, ...] = ()
    smear_s: int = 0
    trigger_id: str | None = None


def preview(call: Call, body: PreviewIn) -> Reply[PreviewOut]:
    """The next instants, the odd nights of a year, and a second opinion. Any token may ask;
    a tenant that is named has to be readable.
    """
    _check_names(body)
    named = _Named() if body.tenant is None else _of_tenant(call, body.tenant, body)
    recurrence = _compiled(body, named.calendars)
    after_us = call.now_us() if body.from_us is None else body.from_us
    found = preview_of(recurrence, after_us, count=body.count)
    window_s = named.smear_s if body.smear_s is None else body.smear_s
    return Reply(
        body=PreviewOut(
            says=recurrence.describe(),
            schedule=list(body.schedule),
            zone=body.zone,
            instants=list(_instants(found, body.tenant, named.trigger_id, window_s=window_s)),
            odd_nights=[odd_night_out(each) for each in found.nights],
            second_opinion=OpinionOut(agrees=found.opinion.agrees, text=found.opinion.text),
            tzdata_version=tzdata_version(),
        )
    )


def _check_names(body: PreviewIn) -> None:
    if body.name is not None:
        check_name("name", body.name)
        if body.tenant is None:
            raise invalid("tenant", "name the trigger's tenant as well")
    if body.calendars and body.tenant is None:
        raise invalid("tenant", "name the tenant whose calendars these are")


def _of_tenant(call: Call, tenant_id: str, body: PreviewIn) -> _Named:
    tenant = tenant_of(call, tenant_id)
    registry = call.services.store.registry
    known = {each.calendar_id: each for each in registry.calendars(tenant_id)}
    missing = [name for name in body.calendars if name not in known]
    if missing:
        raise invalid("calendars", f"{shown(tenant_id)} has no calendar {shown(missing[0])}")
    calendars = tuple(
        ExclusionCalendar(name, known[name].revision, _dates(known[name].dates))
        for name in body.calendars
    )
    found = [] if body.name is None else registry.find_triggers(body.name, tenant_id=tenant_id)
    trigger_id = next((each.trigger_id for each in found if each.name == body.name), None)
    return _Named(calendars, tenant.smear_s, trigger_id)


def _compiled(body: PreviewIn, calendars: tuple[ExclusionCalendar, ...]) -> Recurrence:
    identity = None
    if body.tenant is not None and body.name is not None:
        identity = (body.tenant, body.name)
    try:
        return compile_recurrence(
            body.schedule[0] if len(body.schedule) == 1 else body.schedule,
            body.zone,
            gap=body.gap_rule,
            fold=body.fold_rule,
            starts_at=None if body.starts_at_us is None else from_us(body.starts_at_us),
            ends_at=None if body.ends_at_us is None else from_us(body.ends_at_us),
            exclusions=body.excluded_on,
            calendars=calendars,
            identity=identity,
        )
    except InvalidRecurrence as refused:
        key, text = refusal_text(refused)
        hint = ": give `tenant` and `name`" if "was given" in refused.reason else ""
        raise invalid(key, text + hint) from None


def _instants(
    found: Preview, tenant_id: str | None, trigger_id: str | None, *, window_s: int
) -> Iterator[PreviewInstant]:
    recurrence, zone = found.recurrence, found.recurrence.zone
    after_us = found.instants_us[-1] if found.instants_us else found.after_us
    nexts = [*found.instants_us, recurrence.next_after_us(after_us)]
    for instant_us, next_us in pairwise(nexts):
        if instant_us is None:
            return
        window_us = smear_window_us(window_s * SECOND_US, instant_us, next_us=next_us)
        due_us = instant_us if not window_us else None
        if window_us and tenant_id is not None and trigger_id is not None:
            due_us = instant_us + smear_us(
                tenant_id, trigger_id, instant_us=instant_us, window_us=window_us
            )
        yield PreviewInstant(
            scheduled_instant=instant_us,
            local=local_text(zone, instant_us),
            offset=offset_text(zone, instant_us),
            weekday=wall_text(zone, instant_us, weekday=True)[:3],
            due_at=due_us,
            due_latest=instant_us + window_us,
            mark=mark_of(recurrence, instant_us),
        )


def _dates(texts: Iterable[str]) -> tuple[date, ...]:
    return tuple(date.fromisoformat(text) for text in texts)
