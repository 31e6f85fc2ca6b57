"""One seeded world: two machines and an API on one store, the people who edit, and the targets.

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
from adapters.events_local import LocalEvents
from adapters.lanes_local import LocalLanes
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite import open_sqlite_store
from control_api.call import Match
from ports.errors import StoreUnavailable
from ports.records import ClaimedFire
from ports.store import Store
from punctual.relay import Relay
from scheduling.instants import SECOND_US, to_text
from tests.sim.definitions import NIGHTS, Night, a_random_answer
from tests.sim.desk import Desk, Operation
from tests.sim.journal import keep_a_journal
from tests.support.engine import Engine
from tests.support.faulty_store import Crash, Interceptor, faulty_events, faulty_lanes, faulty_store
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import Answer, ScriptedTarget

EPSILON_US: Final = 5_000
MACHINES: Final = ("east", "west")
PREEMPT: Final = 0.06  # how often somebody else acts between two calls
DEPTH_MAX: Final = 2
TRIES_MAX: Final = 4  # of a client that does not know whether it was heard
RELAY_ROWS_MAX: Final = 7  # so few that a reading has pages


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
    relay: Relay | None = None
    back_us: int | None = None
    clock_good_us: int | None = None
    starts: int = 0
    seen: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)

    def is_alive(self, start: int) -> bool:
        """Whether the process of that start still runs."""
        return self.engine is not None and self.starts == start


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
    payload_keys: TinkPayloadKeys = field(init=False)
    store: Store = field(init=False)  # as the world itself looks at it: nothing comes between
    desk: Desk = field(init=False)
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
        self.payload_keys = TinkPayloadKeys(self.folder / "keys")
        self.store = self._open_store()
        keep_a_journal(self.path)
        self.desk = Desk(self._a_clock())
        self.start_desk()
        self.machines = [Machine(name, self._a_clock()) for name in MACHINES]

    @property
    def path(self) -> Path:
        return self.folder / "store.db"

    @property
    def processes(self) -> tuple[Machine | Desk, ...]:
        """All that have a clock."""
        return (*self.machines, self.desk)

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
            step = machine.relay.step if action == "relay" and machine.relay else None
            (step or getattr(engine, action))()
            machine.seen.add(action)
        except StoreUnavailable as error:
            self.note(machine.name, f"{action}: {error}")
        except Crash:
            self.die(machine)
        finally:
            machine.busy.discard(action)

    def ask(self, text: str, operation: Operation, *, match: Match = Match()) -> None:  # noqa: B008
        """Somebody asks the API for a change, and asks again when no answer came.

        Now and then also after one that did: a proxy repeats what it should not.
        """
        request = self.desk.new_request(text)
        for _ in range(TRIES_MAX):
            calls_before = len(self.calls)
            try:
                heard = self.desk.ask(
                    operation, request=request, match=match, calls_before=calls_before
                )
            except Crash:
                self.start_desk()
                heard = self.desk.lost(request, calls_before)
            self.note("person", f"{request.key} {text} -> {heard.status} {heard.text}")
            if self.random.random() < (0.2 if heard.status == 503 else 0.9):
                return
            self.act_between()

    def report(self) -> None:
        """Targets tell what their runs came to, until they are heard; some tell it twice."""
        for report in self.target.due_reports():
            try:
                told = self.desk.tell(report)
            except StoreUnavailable as error:
                self.note("target", f"not sure: {error}")
                return
            except Crash:
                self.start_desk()
                return
            self.note("target", f"{report.key} {report.outcome} -> {told}")
            if self.random.random() < 0.9:
                self.target.reported(report)

    def act_between(self) -> None:
        """Somebody else acts now, unless they are already acting within one another."""
        if self.depth < DEPTH_MAX:
            self.depth += 1
            try:
                self.between_calls(self)
            finally:
                self.depth -= 1

    def due_times(self) -> list[int]:
        """When anything is next due, as a wake would know it."""
        return list(self.store.due_index.next_due(range(256)).values())

    def start_desk(self) -> None:
        """The API's process starts, or starts again; its clock is right then."""
        if self.desk.starts:
            self.note("api", "dies, and starts again")
            self.mend_clock(self.desk)
        database = self._open_database()
        self.desk.start(
            self._open_store(),
            database,
            intercept=self._interceptor,
            payload_keys=self.payload_keys,
            attempt_tokens=self.attempt_tokens,
        )

    def start(self, machine: Machine) -> None:
        """A process starts, under a new name or its old one, and knows nothing."""
        machine.starts += 1
        machine.back_us = None
        intercept = self._interceptor(machine, machine.starts)
        database = self._open_database()
        suffix = machine.starts if self.random.random() < 0.5 else 0
        store = self._open_store()
        # Nothing rests on what is measured: between two measurements nothing can go wrong.
        store = replace(faulty_store(store, intercept), signals=store.signals)
        machine.relay = Relay(
            store,
            faulty_events(LocalEvents(database), intercept),
            machine.clock,
            rows_max=RELAY_ROWS_MAX,
        )
        machine.engine = Engine(
            store,
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
        machine.engine = machine.relay = None
        machine.seen.clear()
        self.mend_clock(machine)  # a wrong clock that nobody saw change is beyond any service
        machine.back_us = self.now_us + self.random.randint(1, 20) * SECOND_US
        self.note(machine.name, "dies")

    def mend_clock(self, whose: Machine | Desk) -> None:
        """The clock is right again, within its bound."""
        whose.clock.step(self.now_us + self._skew_us() - whose.clock.wall_us)
        whose.clock.epsilon_us = EPSILON_US
        whose.clock_good_us = None

    def advance(self, duration_us: int) -> None:
        """Time passes; processes start and clocks are mended on the way."""
        until_us = self.now_us + duration_us
        while self.now_us < until_us:
            changes = [
                us
                for us in (
                    *(machine.back_us for machine in self.machines),
                    *(each.clock_good_us for each in self.processes),
                )
                if us is not None and us > self.now_us
            ]
            self._move(min([until_us, *changes]))

    def _move(self, to_us: int) -> None:
        for each in self.processes:
            each.clock.advance(to_us - self.now_us)
        self.now_us = to_us
        for each in self.processes:
            if each.clock_good_us is not None and each.clock_good_us <= to_us:
                self.mend_clock(each)
        for machine in self.machines:
            if machine.back_us is not None and machine.back_us <= to_us:
                self.start(machine)

    def _interceptor(self, whose: Machine | Desk, start: int) -> Interceptor:
        """What stands between that process and its ports."""
        return partial(self._intercept, whose, start)

    def _intercept(
        self,
        whose: Machine | Desk,
        start: int,
        name: str,
        call: Callable[[], Any],
        arguments: dict[str, Any],
    ) -> Any:
        if self.random.random() < PREEMPT:
            self.act_between()
        if not whose.is_alive(start):
            raise Crash
        self._maybe_fail(whose, f"{name} before")
        result = call()
        self.calls.append(Call(self.now_us, whose.name, name, arguments, result))
        self.note(whose.name, f"{name} -> {str(result)[:400]}")
        self._maybe_fail(whose, f"{name} after")
        return result

    def _maybe_fail(self, whose: Machine | Desk, where: str) -> None:
        if self.weather and self.random.random() < self.weather:
            if self.random.random() < 0.3:
                self.note(whose.name, f"crashes {where}")
                raise Crash
            raise StoreUnavailable(f"the weather, {where}")

    def _answer(self, fire: ClaimedFire) -> Answer:
        answer = a_random_answer(self.random, self.mood)
        self.note("target", f"{fire.key} {fire.n} -> {answer}")
        return answer

    def _a_clock(self) -> ManualClock:
        return ManualClock(self.now_us + self._skew_us(), self.now_us, EPSILON_US)

    def _skew_us(self) -> int:
        return self.random.randint(-EPSILON_US, EPSILON_US)

    def _open_store(self) -> Store:
        store = open_sqlite_store(
            self.path,
            payload_keys=self.payload_keys,
            now_us=self.now_us,
            synchronous="OFF",
        )
        self.to_close.append(store.close)
        return store

    def _open_database(self) -> SqliteDatabase:
        database = SqliteDatabase(self.path, synchronous="OFF")
        self.to_close.append(database.close)
        return database
