"""What people ask of a world's API: every kind of edit, runs by hand, and the ends of fires."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from control_api.operations import (
    calendars,
    fires,
    privileged,
    standing,
    targets,
    tenants,
    triggers,
)
from control_api.operations.apply import apply_manifests
from scheduling.vocabulary import WAITING, ResumeRule
from schemas.api.apply import ApplyIn
from schemas.api.principals import QuotaIn
from schemas.api.tenants import TargetIn, TenantIn
from schemas.api.triggers import HorizonIn, NoteIn, PauseIn, ResumeIn, RunIn
from schemas.manifest import CalendarSpec
from tests.sim.definitions import a_random_body, a_random_calendar, spec_of
from tests.sim.desk import a_random_match
from tests.sim.world import World
from tests.support.definitions import SECRET, TARGET, TENANT

TENANTS: Final = (TENANT, "bolt")
NAMES: Final = ("bill", "scan", "sync", "trim")
CALENDARS: Final = ("feast", "works")
HOOK: Final = "http://127.0.0.1:8089/hook"


def a_tenant(world: World, tenant_id: str) -> None:
    """With a target, and a quota that may be small."""
    quota = QuotaIn(quota_dispatch_per_s=world.random.choice((100, 20, 4)))
    world.ask("tenant", lambda call: tenants.put_tenant(call, tenant_id, TenantIn()))
    world.ask("quota", lambda call: privileged.set_quota(call, tenant_id, quota))
    target = TargetIn(url=HOOK, secret=SECRET)
    world.ask("target", lambda call: targets.put_target(call, tenant_id, TARGET, target))


def a_change(world: World) -> None:
    """Any edit that somebody can ask for."""
    kinds = tuple(CHANGES)
    (change,) = world.random.choices(kinds, weights=tuple(CHANGES.values()))
    change(world)


def put(world: World, tenant_id: str | None = None, name: str | None = None, /) -> None:
    """One trigger, new or in place of what its name stands for."""
    tenant_id = tenant_id or world.random.choice(TENANTS)
    name = name or world.random.choice(NAMES)
    spec = spec_of(_a_body(world, tenant_id))
    found = world.store.registry.find_triggers(name, tenant_id=tenant_id)
    world.ask(
        f"put {tenant_id}/{name}",
        lambda call: triggers.put_trigger(call, tenant_id, name, spec),
        match=a_random_match(world.random, found[0].revision if found else None),
    )


def a_single_fire(world: World) -> None:
    """A run by hand, or the end of one that waits."""
    if world.random.random() < 0.6:
        _a_run(world)
    else:
        _a_cancel(world)


def _a_run(world: World) -> None:
    random = world.random
    tenant_id, name = random.choice(TENANTS), random.choice(NAMES)
    body = RunIn.model_validate(
        {"force": random.random() < 0.4} | random.choice(({}, {}, {"payload": {"by": "hand"}}))
    )
    world.ask(
        f"run {tenant_id}/{name} {body}",
        lambda call: standing.run_trigger(call, tenant_id, name, body),
    )


def _a_cancel(world: World) -> None:
    """Of a fire that was seen to wait; it may be on its way by now, or have ended long ago."""
    states = sorted(WAITING) if world.random.random() < 0.8 else ()
    seen = world.store.history.fires(states=states, limit=20)
    if seen:
        key = str(world.random.choice(seen).key)
        world.ask(f"cancel {key}", lambda call: fires.cancel_fire(call, key, NoteIn()))


def _a_trigger(world: World) -> tuple[str, str]:
    return world.random.choice(TENANTS), world.random.choice(NAMES)


def _pause(world: World) -> None:
    where = _a_trigger(world)
    world.ask(f"pause {where}", lambda call: standing.pause_trigger(call, *where, PauseIn()))


def _resume(world: World) -> None:
    where, rule = _a_trigger(world), world.random.choice(tuple(ResumeRule))
    body = ResumeIn(policy=rule)
    world.ask(f"resume {where} {rule}", lambda call: standing.resume_trigger(call, *where, body))


def _delete(world: World) -> None:
    where = _a_trigger(world)
    world.ask(f"delete {where}", lambda call: triggers.delete_trigger(call, *where, note=None))


def _horizon(world: World) -> None:
    where = _a_trigger(world)
    body = HorizonIn.model_validate({"horizon": world.random.choice((None, "60s", "2h", "3h"))})
    world.ask(
        f"horizon {where} {body.horizon_s}", lambda call: standing.set_horizon(call, *where, body)
    )


def _quota(world: World) -> None:
    """A small one refuses the next trigger, or slows catch-up down."""
    tenant_id, random = world.random.choice(TENANTS), world.random
    body = QuotaIn(
        quota_triggers=random.choice((3, 1_000, 1_000, 1_000)),
        quota_dispatch_per_s=random.choice((100, 20, 4)),
        catchup_rate_pct=random.choice((None, 10, 50)),
    )
    world.ask(
        f"set quota {tenant_id} {body}", lambda call: privileged.set_quota(call, tenant_id, body)
    )


def _target(world: World) -> None:
    """Put again, with another timeout."""
    tenant_id = world.random.choice(TENANTS)
    body = TargetIn(url=HOOK, secret=SECRET, timeout_s=world.random.choice((5, 10, 10)))
    found = world.store.registry.target(tenant_id, TARGET)
    world.ask(
        f"target {tenant_id} {body.timeout_s}",
        lambda call: targets.put_target(call, tenant_id, TARGET, body),
        match=a_random_match(world.random, None if found is None else found.revision),
    )


def _calendar(world: World) -> None:
    tenant_id, name = world.random.choice(TENANTS), world.random.choice(CALENDARS)
    spec = CalendarSpec.model_validate(a_random_calendar(world.random, world.night))
    found = world.store.registry.calendar(tenant_id, name)
    world.ask(
        f"calendar {tenant_id}/{name}",
        lambda call: calendars.put_calendar(call, tenant_id, name, spec),
        match=a_random_match(world.random, None if found is None else found.revision),
    )


def _no_calendar(world: World) -> None:
    tenant_id, name = world.random.choice(TENANTS), world.random.choice(CALENDARS)
    world.ask(
        f"no calendar {tenant_id}/{name}",
        lambda call: calendars.delete_calendar(call, tenant_id, name),
    )


def _manifest(world: World) -> None:
    """Several triggers and calendars of a tenant in one transaction, paused or resumed with it."""
    random, tenant_id = world.random, world.random.choice(TENANTS)
    named = random.sample(CALENDARS, random.randint(0, 2))
    names = random.sample(NAMES, random.randint(1, 3))
    tree: dict[str, Any] = {
        "targets": {TARGET: {"url": HOOK, "secret": SECRET}},
        "calendars": {name: a_random_calendar(random, world.night) for name in named},
        "triggers": {name: _an_entry(world, named) for name in names},
    }
    if random.random() < 0.2:
        tree["quota_dispatch_per_s"] = random.choice((100, 20, 4))
    body = ApplyIn.model_validate(
        {
            "manifests": [{"tenants": {tenant_id: tree}}],
            "prune": random.random() < 0.15,
            "only": [f"{tenant_id}/{names[0]}"] if random.random() < 0.2 else [],
        }
    )
    times = 2 if random.random() < 0.2 else 1  # once more, which mostly changes nothing
    for _ in range(times):
        world.ask(
            f"apply {tenant_id} {names} {named} prune={body.prune}",
            lambda call: apply_manifests(call, body, changes_max=None),
        )


def _an_entry(world: World, named: Sequence[str]) -> dict[str, Any]:
    """A trigger of a manifest: what it is, and perhaps whether it is paused."""
    random = world.random
    body = a_random_body(random, world.night, calendars=named)
    paused = random.choice((None, None, True, False))
    if paused is not None:
        body["paused"] = paused
    if paused is False:
        body["resume"] = random.choice(tuple(ResumeRule)).value
    return body


def _a_body(world: World, tenant_id: str) -> dict[str, Any]:
    there = [each.calendar_id for each in world.store.registry.calendars(tenant_id, limit=9)]
    return a_random_body(world.random, world.night, calendars=there)


CHANGES: Final[dict[Callable[[World], None], int]] = {
    put: 6,
    _manifest: 5,
    _pause: 3,
    _resume: 6,
    _delete: 2,
    _horizon: 2,
    _quota: 1,
    _target: 1,
    _calendar: 2,
    _no_calendar: 1,
}
