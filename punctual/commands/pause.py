"""`punctual pause` and `punctual resume`: stop a trigger, and let it go on."""

import sys
from pathlib import Path
from typing import Any, Final

import click

from control_api.answers.zone_times import instant_json, local_text
from ports.changes import ChangeKind, ChangeResult, PauseTrigger, ResumeTrigger
from ports.records import TriggerRecord
from ports.store import Store
from punctual.commands.common import (
    PAGE_ROWS,
    Refusal,
    data_option,
    find_trigger,
    json_option,
    now_us,
    opened,
    qualified_name,
    say_json,
    tenant_option,
)
from scheduling.limits import NOTE_CHARS_MAX
from scheduling.vocabulary import WAITING, ResumeRule, TriggerState

WAITING_COUNTED_MAX: Final = 10_000


@click.command()
@click.argument("trigger")
@click.option("--note", help="Why; shown wherever the trigger is.")
@click.option("--yes", is_flag=True, help="Do not ask before waiting fires are stopped.")
@tenant_option
@data_option
@json_option
def pause(
    trigger: str, note: str | None, yes: bool, tenant: str | None, data: Path, as_json: bool
) -> None:
    """Stop a trigger until it is resumed.

    Nothing of it is decided or sent from now on; fires that wait already are stopped. On a
    terminal their number is shown and asked about first. The resume says what becomes of the
    paused time.
    """
    _check_note(note)
    with opened(data) as store:
        found = find_trigger(store.registry, trigger, tenant)
        waiting = _waiting_fires(store, found)
        if waiting and not yes and stands_at_terminal():
            fires = _count_text(waiting, "waiting fire")
            click.confirm(
                f"Pausing {qualified_name(found)} stops {fires}. Go on?", abort=True, err=True
            )
        change = PauseTrigger(tenant_id=found.tenant_id, name=found.name, note=note)
        result = _apply(store, change)
        zone = _zone(store, found)
        left = _waiting_fires(store, found)
    stopped = max(result.stopped_fires, waiting - left)  # the result leaves gaps out
    if as_json:
        say_json(_json(found, result) | {"stopped_fires": stopped, "still_waiting": left})
        return
    click.echo(_paused_text(found, result, zone=zone, stopped=stopped, left=left))


@click.command()
@click.argument("trigger")
@click.option(
    "--policy",
    type=click.Choice([each.value for each in ResumeRule]),
    default=ResumeRule.DROP.value,
    show_default=True,
    help="What becomes of the instants of the paused time.",
)
@click.option("--note", help="Why, for the audit.")
@tenant_option
@data_option
@json_option
def resume(
    trigger: str, policy: str, note: str | None, tenant: str | None, data: Path, as_json: bool
) -> None:
    """End a pause, or a quarantine whose cause is gone.

    The policy says what becomes of the paused time: drop (nothing fires), fire_once_now (one fire
    for all of it), fire_all (every instant, at the catch-up rate), or skip.
    """
    _check_note(note)
    with opened(data) as store:
        found = find_trigger(store.registry, trigger, tenant)
        change = ResumeTrigger(
            tenant_id=found.tenant_id, name=found.name, rule=ResumeRule(policy), note=note
        )
        result = _apply(store, change)
        zone = _zone(store, found)
        next_us = find_trigger(store.registry, found.trigger_id, found.tenant_id).next_due_us
    if as_json:
        say_json(_json(found, result) | {"policy": policy, "next_due_at": instant_json(next_us)})
        return
    click.echo(_resumed_text(found, result, policy=policy, zone=zone, next_us=next_us))


def stands_at_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()


def _apply(store: Store, change: PauseTrigger | ResumeTrigger) -> ChangeResult:
    from control_api.manifests.applying import local_actor

    (result,) = store.registry.apply([change], now_us=now_us(), actor=local_actor())
    return result


def _check_note(note: str | None) -> None:
    if note is not None and len(note) > NOTE_CHARS_MAX:
        raise Refusal(f"--note: has {len(note)} characters; at most {NOTE_CHARS_MAX}")


def _waiting_fires(store: Store, trigger: TriggerRecord) -> int:
    """Fires that a pause stops: those that wait, and those of gaps still to be planned.

    After WAITING_COUNTED_MAX the counting of rows ends.
    """
    rows = store.history.fires(
        tenant_id=trigger.tenant_id,
        trigger_id=trigger.trigger_id,
        states=WAITING,
        limit=PAGE_ROWS,
    )
    count = len(rows)
    while len(rows) == PAGE_ROWS and count < WAITING_COUNTED_MAX:
        rows = store.history.fires(
            tenant_id=trigger.tenant_id,
            trigger_id=trigger.trigger_id,
            states=WAITING,
            after=rows[-1].key,
            limit=PAGE_ROWS,
        )
        count += len(rows)
    return count + sum(
        gap.instant_count - gap.planned_count
        for gap in store.history.gaps(trigger.tenant_id)
        if gap.trigger_id == trigger.trigger_id
    )


def _zone(store: Store, trigger: TriggerRecord) -> str:
    definition = store.registry.definition(
        trigger.tenant_id, trigger.trigger_id, version=trigger.version
    )
    return "UTC" if definition is None else definition.zone


def _paused_text(
    trigger: TriggerRecord, result: ChangeResult, *, zone: str, stopped: int, left: int
) -> str:
    name = qualified_name(trigger)
    if result.kind is ChangeKind.UNCHANGED:
        note = f" ({trigger.pause_note})" if trigger.pause_note else ""
        return f"{name} was paused already{note}; nothing changed."
    text = f"Paused {name} from {_moment(zone, result.from_us)} on"
    if stopped:
        text += f"; stopped {_count_text(stopped, 'waiting fire')}"
    if left:
        text += f", and {left:,} more follow within seconds of a running `punctual up`"
    return f"{text}. Go on with `punctual resume {name}`."


def _resumed_text(
    trigger: TriggerRecord,
    result: ChangeResult,
    *,
    policy: str,
    zone: str,
    next_us: int | None,
) -> str:
    name = qualified_name(trigger)
    ahead = "it has no instant left" if next_us is None else f"next at {_moment(zone, next_us)}"
    if result.kind is ChangeKind.UNCHANGED:
        return f"{name} was not paused; nothing changed, {ahead}."
    if trigger.state is TriggerState.QUARANTINED:
        return f"Resumed {name} after its quarantine: {ahead}."
    return f"Resumed {name} with {policy} for the paused time: {ahead}."


def _moment(zone: str, instant_us: int | None) -> str:
    return "now" if instant_us is None else local_text(zone, instant_us, weekday=True)


def _count_text(count: int, noun: str) -> str:
    at_least = "at least " if count >= WAITING_COUNTED_MAX else ""
    return f"{at_least}{count:,} {noun}" + ("" if count == 1 else "s")


def _json(trigger: TriggerRecord, result: ChangeResult) -> dict[str, Any]:
    return {
        "tenant": trigger.tenant_id,
        "trigger": trigger.name,
        "change": result.kind.value,
        "revision": result.revision,
        "from": instant_json(result.from_us),
        "stopped_fires": result.stopped_fires,
        "settled_rows": result.settled_rows,
        "next_due_at": instant_json(result.next_due_us),
    }
