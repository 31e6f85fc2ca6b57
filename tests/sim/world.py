"""One seeded world: two machines on one store, the people who edit, and the targets.

One `Random` drives everything, so a seed is a whole history. Between any two calls of a port
somebody else may act, the call may fail before or after its effect, or its process may die.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from ports.changes import Change
from ports.errors import ChangeRefused, StoreUnavailable
from ports.records import ClaimedFire
from ports.store import Store
from scheduling.instants import SECOND_US, to_text
from tests.sim.definitions import NIGHTS, Night, a_random_answer
from tests.support.engine import Engine
from tests.support.faulty_store import Crash, faulty_lanes, faulty_store
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import Answer, ScriptedTarget

EPSILON_US: Final = 5_000
MACHINES: Final = ("east", "west")
PREEMPT: Final = 0.06  # how often somebody else acts between two calls
DEPTH_MAX: Final = 2


class Call(NamedTuple):
    """One call that had its effect, in the order in which the store saw it."""

    at_us: int
    who: str
    name: str
    arguments: dict[str, Any]
    result: Any


@dataclass(slots=True)
class Machine:
    """A machine, its clock, and the process on it if one runs.

    `back_us` is when a process starts again, `clock_good_us` when somebody mends the clock.
    `seen` are the actions since the process started: what has read its clock can see a step.
    """

    name: str
    clock: ManualClock
    engine: Engine | None = None
    back_us: int | None = None
    clock_good_us: int | None = None
    starts: int = 0
    seen: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)


@dataclass(slots=True)
class World:
    """Its state and what all happenings are made of; `between_calls` is one of them.

    `weather` is the chance of a fault at a call, `mood` how targets answer.
    """

    seed: int
    folder: Path
    between_calls: Callable[["World"], None]
    random: Random = field(init=False)
    night: Night = field(init=False)
    now_us: int = field(init=False)  # the true time
    target: ScriptedTarget = field(init=False)
    attempt_tokens: LocalAttemptTokens = field(init=False)
    api: Store = field(init=False)
    machines: list[Machine] = field(init=False)
    weather: float = 0.0
    mood: str = "good"
    depth: int = 0
    log: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    to_close: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.night = self.random.choice(NIGHTS)
        self.now_us = self.night.start_us
        self.attempt_tokens = LocalAttemptTokens(self.folder / "keys")
        self.target = ScriptedTarget(lambda: self.now_us, self._answer)
        self.api = faulty_store(self._open_store(), partial(self._intercept, None, 0))
        self.machines = [
            Machine(name, ManualClock(self.now_us + self._skew_us(), self.now_us, EPSILON_US))
            for name in MACHINES
        ]

    @property
    def path(self) -> Path:
        return self.folder / "store.db"

    def close(self) -> None:
        """Close every connection."""
        for close in self.to_close:
            close()

    def note(self, who: str, text: str) -> None:
        """A line of the world's log."""
        self.log.append(f"{to_text(self.now_us)} {'  ' * self.depth}{who}: {text}")

    def act(self, machine: Machine, action: str) -> None:
        """One step of a machine's process, which may fail or die in it."""
        engine = machine.engine
        if engine is None or action in machine.busy:
            return
        machine.busy.add(action)
        try:
            if action == "report":
                self._report(engine)
            else:
                getattr(engine, action)()
            machine.seen.add(action)
        except StoreUnavailable as error:
            self.note(machine.name, f"{action}: {error}")
        except Crash:
            self.die(machine)
        finally:
            machine.busy.discard(action)

    def apply(self, *changes: Change) -> None:
        """Somebody asks for changes, and may not learn whether they were made."""
        try:
            self.api.registry.apply(changes, now_us=self.api_now_us(), actor="person")
        except ChangeRefused as error:
            self.note("person", f"refused: {error}")
        except StoreUnavailable as error:
            self.note("person", f"not sure: {error}")

    def due_times(self) -> list[int]:
        """When anything is next due, as a wake would know it."""
        try:
            return list(self.api.due_index.next_due(range(256)).values())
        except StoreUnavailable:
            return []

    def api_now_us(self) -> int:
        """The gate's earliest, on a machine whose clock is right within its bound."""
        return self.now_us + self._skew_us() - EPSILON_US

    def start(self, machine: Machine) -> None:
        """A process starts, under a new name or its old one, and knows nothing."""
        machine.starts += 1
        machine.back_us = None
        intercept = partial(self._intercept, machine, machine.starts)
        database = SqliteDatabase(self.path, synchronous="OFF")
        self.to_close.append(database.close)
        suffix = machine.starts if self.random.random() < 0.5 else 0
        store = self._open_store()
        machine.engine = Engine(
            # Nothing rests on what is measured: between two measurements nothing can go wrong.
            replace(faulty_store(store, intercept), signals=store.signals),
            faulty_lanes(LocalLanes(database), intercept),
            machine.clock,
            self.target,
            self.attempt_tokens,
            f"{machine.name}-{suffix}",
        )
        self.note(machine.name, f"starts as {machine.engine.owner_id}")

    def die(self, machine: Machine) -> None:
        """The process is gone with all it had in memory; another starts a little later."""
        if machine.engine is None:
            return
        machine.engine = None
        machine.seen.clear()
        self.mend_clock(machine)  # a wrong clock that nobody saw change is beyond any service
        machine.back_us = self.now_us + self.random.randint(1, 20) * SECOND_US
        self.note(machine.name, "dies")

    def mend_clock(self, machine: Machine) -> None:
        """The clock is right again, within its bound."""
        machine.clock.step(self.now_us + self._skew_us() - machine.clock.wall_us)
        machine.clock.epsilon_us = EPSILON_US
        machine.clock_good_us = None

    def advance(self, duration_us: int) -> None:
        """Time passes; processes start and clocks are mended on the way."""
        until_us = self.now_us + duration_us
        while self.now_us < until_us:
            changes = [
                us
                for machine in self.machines
                for us in (machine.back_us, machine.clock_good_us)
                if us is not None and us > self.now_us
            ]
            self._move(min([until_us, *changes]))

    def _move(self, to_us: int) -> None:
        for machine in self.machines:
            machine.clock.advance(to_us - self.now_us)
        self.now_us = to_us
        for machine in self.machines:
            if machine.clock_good_us is not None and machine.clock_good_us <= to_us:
                self.mend_clock(machine)
            if machine.back_us is not None and machine.back_us <= to_us:
                self.start(machine)

    def _report(self, engine: Engine) -> None:
        for report in self.target.due_reports():
            engine.report(report)
            self.target.reported(report)

    def _intercept(
        self,
        machine: Machine | None,
        start: int,
        name: str,
        call: Callable[[], Any],
        arguments: dict[str, Any],
    ) -> Any:
        if self.depth < DEPTH_MAX and self.random.random() < PREEMPT:
            self.depth += 1
            try:
                self.between_calls(self)
            finally:
                self.depth -= 1
        if machine is not None and (machine.engine is None or machine.starts != start):
            raise Crash
        self._maybe_fail(machine, f"{name} before")
        result = call()
        who = machine.name if machine else "person"
        self.calls.append(Call(self.now_us, who, name, arguments, result))
        self.note(who, f"{name} -> {str(result)[:400]}")
        self._maybe_fail(machine, f"{name} after")
        return result

    def _maybe_fail(self, machine: Machine | None, where: str) -> None:
        if self.weather and self.random.random() < self.weather:
            if machine is not None and self.random.random() < 0.3:
                self.note(machine.name, f"crashes {where}")
                raise Crash
            raise StoreUnavailable(f"the weather, {where}")

    def _answer(self, fire: ClaimedFire) -> Answer:
        answer = a_random_answer(self.random, self.mood)
        self.note("target", f"{fire.key} {fire.n} -> {answer}")
        return answer

    def _skew_us(self) -> int:
        return self.random.randint(-EPSILON_US, EPSILON_US)

    def _open_store(self) -> Store:
        store = open_sqlite_store(
            self.path,
            payload_keys=TinkPayloadKeys(self.folder / "keys"),
            now_us=self.now_us,
            synchronous="OFF",
        )
        self.to_close.append(store.close)
        return store
