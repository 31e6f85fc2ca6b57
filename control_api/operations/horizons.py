"""The catch-up horizon that a definition gets: whoever edits a trigger cannot extend it."""

from typing import NamedTuple

from control_api.call import Call
from ports.principals import GrantKind
from ports.records import HeldHorizon, TriggerDefinition
from scheduling.durations import duration_text
from schemas.manifest import TriggerSpec


class WantedHorizon(NamedTuple):
    """What a definition gets.

    source:  who chose it
    held_s:  what must hold still when it is put; None where nothing rests on it
    """

    seconds: int
    source: str
    held_s: int | None


def wanted_horizon(
    call: Call,
    tenant_id: str,
    name: str,
    *,
    body: TriggerSpec,
    current: TriggerDefinition | None,
) -> WantedHorizon:
    """As it is where the body leaves it open; beyond what holds it needs the grant `policy`.

    A new trigger's is the default, or the lower one that the name's last trigger was deleted with:
    whoever may delete and create must not undo by that what `policy` has lowered.
    """
    if current is None:
        held = call.services.store.registry.horizon(tenant_id, name)
    else:
        held = HeldHorizon(current.catchup_horizon_s, current.horizon_source)
    if body.horizon_s is None:
        return WantedHorizon(*held, held_s=held.seconds)
    if body.horizon_s > held.seconds:
        act = f"extend the horizon of {name} beyond {duration_text(held.seconds)}"
        call.require(GrantKind.POLICY, tenant_id, act=act)
    is_free = call.principal.holds(GrantKind.POLICY, tenant_id)
    is_chosen = body.horizon_s != held.seconds
    return WantedHorizon(
        seconds=body.horizon_s,
        source=f"chosen by {call.principal.principal_id}" if is_chosen else held.source,
        held_s=None if is_free else held.seconds,
    )
