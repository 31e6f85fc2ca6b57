"""What can happen in a world, how often, and how a world begins and calms down."""

from collections.abc import Callable
from typing import Final

from control_api.call import Call
from control_api.operations import fires, privileged, standing, targets, tenants, triggers
from control_api.replies import Reply
from ports.changes import PauseTrigger, ResumeTrigger
from scheduling.instants import SECOND_US
from scheduling.vocabulary import WAITING, FireState, ResumeRule
from schemas.api.principals import QuotaIn
from schemas.api.tenants import TargetIn, TenantIn
from schemas.api.triggers import NoteIn, PauseIn, ResumeIn, RunIn
from tests.sim.definitions import WINDOW_US, a_random_body, spec_of
from tests.sim.desk import Desk, Operation, a_random_match
from tests.sim.world import DEPTH_MAX, World
from tests.support.definitions import SECRET, TARGET, TENANT

TENANTS: Final = (TENANT, "bolt")
NAMES: Final = ("bill", "scan", "sync", "trim")
ACTIONS: Final = ("look", "take", "send", "collect")
RELAYED: Final = 0.3  # of the passes: the relay looks less often than the decider
HOOK: Final = "http://127.0.0.1:8089/hook"
STEPS: Final = 350
CALM_ROUNDS_MAX: Final = 3_000


def run(world: World) -> None:
    """The wild part, then the calm, until nothing is left to do."""
    for tenant_id in TENANTS:
        _a_tenant(world, tenant_id)
    for _ in range(5):
        _put(world)
    for machine in world.machines:
        world.start(machine)
    for _ in range(STEPS):
        (happening,) = world.random.choices(tuple(HAPPENINGS), weights=tuple(HAPPENINGS.values()))
        happening(world)
    _calm(world)


def between_calls(world: World) -> None:
    """What happens while another call is on its way."""
    kinds = (_some_acts, _some_acts, _a_change, _a_single_fire, _a_blink, _a_stall)
    happening = world.random.choice(kinds)
    happening(world)


def _some_time(world: World) -> None:
    random = world.random
    longest_us = random.choice((1_000, 50_000, SECOND_US, 4 * SECOND_US, 30 * SECOND_US))
    if random.random() < 0.5:
        due_us = min(world.due_times(), default=world.now_us)
        ahead_us = due_us - world.now_us + random.choice((-20_000, 0, 2_000, 12_000))
        if 0 < ahead_us < 90 * SECOND_US:
            world.advance(ahead_us)
            return
    world.advance(random.randint(1, longest_us))


def _a_blink(world: World) -> None:
    world.advance(world.random.choice((1_000, 200_000, 3 * SECOND_US)))


def _a_stall(world: World) -> None:
    """Long enough for a lease to be lost, and for the other machine to take it over."""
    world.advance(world.random.randint(4, 9) * SECOND_US)
    for machine in world.machines:
        world.act(machine, "look")


def _a_pass(world: World) -> None:
    machine = world.random.choice(world.machines)
    for action in ACTIONS:
        world.act(machine, action)
    if world.random.random() < RELAYED:
        world.act(machine, "relay")
    world.report()


def _some_acts(world: World) -> None:
    for _ in range(world.random.randint(1, 4)):
        action = world.random.choice((*ACTIONS, "relay", "report"))
        if action == "report":
            world.report()
        else:
            world.act(world.random.choice(world.machines), action)


def _a_tenant(world: World, tenant_id: str) -> None:
    """With a target, and a quota that may be small."""
    quota = QuotaIn(quota_dispatch_per_s=world.random.choice((100, 20, 4)))
    target = TargetIn(url=HOOK, secret=SECRET)
    world.ask("tenant", lambda call: tenants.put_tenant(call, tenant_id, TenantIn()))
    world.ask("quota", lambda call: privileged.set_quota(call, tenant_id, quota))
    world.ask("target", lambda call: targets.put_target(call, tenant_id, TARGET, target))


def _a_change(world: World) -> None:
    random = world.random
    tenant_id, name = random.choice(TENANTS), random.choice(NAMES)
    kind = random.choice(("put", "put", "pause", "resume", "resume", "delete", "both"))
    rule = random.choice(tuple(ResumeRule))
    where, resume = (tenant_id, name), ResumeIn(policy=rule)
    operations: dict[str, Operation] = {
        "pause": lambda call: standing.pause_trigger(call, *where, PauseIn()),
        "resume": lambda call: standing.resume_trigger(call, *where, resume),
        "delete": lambda call: triggers.delete_trigger(call, *where, note=None),
        "both": lambda call: _pause_and_resume(call, *where, rule=rule),
    }
    if kind == "put":
        _put(world, tenant_id, name)
    else:
        world.ask(f"{kind} {tenant_id}/{name} {rule}", operations[kind])


def _pause_and_resume(call: Call, tenant_id: str, name: str, *, rule: ResumeRule) -> Reply[None]:
    """As a manifest does that says both."""
    (_, result) = call.apply(
        PauseTrigger(tenant_id=tenant_id, name=name),
        ResumeTrigger(tenant_id=tenant_id, name=name, rule=rule),
    )
    return Reply(body=None, replayed=result.replayed)


def _put(world: World, tenant_id: str | None = None, name: str | None = None, /) -> None:
    tenant_id = tenant_id or world.random.choice(TENANTS)
    name = name or world.random.choice(NAMES)
    spec = spec_of(a_random_body(world.random, world.night))
    found = world.store.registry.find_triggers(name, tenant_id=tenant_id)
    world.ask(
        f"put {tenant_id}/{name}",
        lambda call: triggers.put_trigger(call, tenant_id, name, spec),
        match=a_random_match(world.random, found[0].revision if found else None),
    )


def _a_single_fire(world: World) -> None:
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


def _other_weather(world: World) -> None:
    world.weather = world.random.choice((0.0, 0.0, 0.01, 0.05))
    world.mood = world.random.choice(("good", "good", "bad"))
    world.note("weather", f"{world.weather} {world.mood}")


def _a_death(world: World) -> None:
    world.die(world.random.choice(world.machines))


def _an_outage(world: World) -> None:
    """Nobody decides for a while: past graces, past horizons, past a hundred instants."""
    for machine in world.machines:
        world.die(machine)
    lasts_s = world.random.choice((40, 300, 2_400, 7_200))
    if world.now_us + 2 * lasts_s * SECOND_US > world.night.start_us + WINDOW_US // 2:
        return
    for machine in world.machines:
        machine.back_us = None
    world.advance(world.random.randint(1, lasts_s) * SECOND_US)
    for machine in world.machines:
        machine.back_us = world.now_us


def _a_bad_clock(world: World) -> None:
    """A bound that says so, or a step that is mended within its quarantine."""
    random = world.random
    machine = random.choice(world.processes)
    has_seen = isinstance(machine, Desk) or {"look", "take"} <= machine.seen
    if not has_seen or machine.clock_good_us is not None:
        return
    if random.random() < 0.5:
        machine.clock.epsilon_us = 200_000
        machine.clock.step(random.randint(-150_000, 150_000))
        machine.clock_good_us = world.now_us + random.randint(1, 40) * SECOND_US
    else:
        size_us = random.choice((20_000, SECOND_US, 30 * SECOND_US, 120 * SECOND_US))
        machine.clock.step(random.choice((-size_us, size_us)))
        machine.clock_good_us = world.now_us + random.randint(1, 9) * SECOND_US
    world.note(machine.name, f"clock off by {machine.clock.wall_us - world.now_us} us")


HAPPENINGS: Final[dict[Callable[[World], None], int]] = {
    _some_time: 40,
    _a_pass: 40,
    _some_acts: 14,
    _a_change: 12,
    _a_single_fire: 8,
    _other_weather: 5,
    _a_death: 3,
    _an_outage: 2,
    _a_bad_clock: 2,
}


def _calm(world: World) -> None:
    """Good weather and kind targets, until nothing waits any more."""
    world.note("world", "calm")
    world.weather, world.mood, world.depth = 0.0, "calm", DEPTH_MAX
    world.mend_clock(world.desk)
    for machine in world.machines:
        world.mend_clock(machine)
        if machine.engine is None:
            world.start(machine)
    for _ in range(CALM_ROUNDS_MAX):
        for machine in world.machines:
            for action in ACTIONS:
                world.act(machine, action)
        world.report()
        if world.random.random() < RELAYED:
            world.act(world.random.choice(world.machines), "relay")
        if _is_at_rest(world):
            _relay_all(world)
            return
        world.advance(world.random.choice((SECOND_US, 3 * SECOND_US)))
    world.note("world", "never came to rest")


def _relay_all(world: World) -> None:
    """Until the last event is out; nothing else happens any more."""
    for machine in world.machines:
        world.act(machine, "relay")
        while machine.relay is not None and machine.relay.is_behind:
            world.act(machine, "relay")


def _is_at_rest(world: World) -> bool:
    engines = [machine.engine for machine in world.machines if machine.engine is not None]
    in_memory = any(engine.open_attempts or engine.claimed for engine in engines)
    if in_memory or world.target.reports or any(us <= world.now_us for us in world.due_times()):
        return False
    history = world.store.history
    is_dispatching = history.fires(states=[FireState.DISPATCHING], limit=1)
    return not is_dispatching and not any(history.backlog().values())
