"""What can happen in a world, how often, and how a world begins and calms down."""

from collections.abc import Callable
from typing import Final

from scheduling.instants import SECOND_US
from scheduling.vocabulary import FireState
from tests.sim.definitions import WINDOW_US
from tests.sim.desk import Desk
from tests.sim.people import TENANTS, a_change, a_single_fire, a_tenant, put
from tests.sim.world import DEPTH_MAX, World

ACTIONS: Final = ("look", "take", "send", "collect")
RELAYED: Final = 0.3  # of the passes: the relay looks less often than the decider
STEPS: Final = 350
CALM_ROUNDS_MAX: Final = 3_000


def run(world: World) -> None:
    """The wild part, then the calm, until nothing is left to do."""
    for tenant_id in TENANTS:
        a_tenant(world, tenant_id)
    for _ in range(5):
        put(world)
    for machine in world.machines:
        world.start(machine)
    for _ in range(STEPS):
        (happening,) = world.random.choices(tuple(HAPPENINGS), weights=tuple(HAPPENINGS.values()))
        happening(world)
    _calm(world)


def between_calls(world: World) -> None:
    """What happens while another call is on its way."""
    kinds = (_some_acts, _some_acts, a_change, a_single_fire, _a_blink, _a_stall)
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
    a_change: 14,
    a_single_fire: 8,
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
