"""The API of a world: one process whose operations people and targets call, and may die in."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, NamedTuple

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.events_local import LocalEvents
from adapters.lanes_local import LocalLanes
from adapters.ownership_http import HttpOwnership
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import SqliteDatabase
from control_api.call import Call, Match
from control_api.gate import ChangeGate
from control_api.operations.outcomes import report_outcome
from control_api.problems import ApiProblem, of_port_error
from control_api.services import ApiSettings, Services
from ports.authenticator import Principal
from ports.changes import ChangeKind, IdempotentRequest
from ports.errors import PortError
from ports.principals import GrantKind
from ports.store import Store
from schemas.api.apply import ApplyOut
from schemas.api.outcomes import OutcomeIn
from tests.support.faulty_store import Interceptor, faulty_lanes, faulty_store
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import Report

PERSON: Final = Principal(
    principal_id="person", grants=frozenset((kind, None) for kind in GrantKind)
)
NOTHING_TO_DO: Final = "nothing to do"
Operation = Callable[[Call], Any]


class Answer(NamedTuple):
    """What a client heard of one try of a request.

    status:       of the answer; 503 also where none came
    calls_before: how many calls the ports had served when the try began
    """

    key: str
    status: int
    replayed: bool
    calls_before: int
    text: str

    @property
    def is_success(self) -> bool:
        return self.status < 400


@dataclass(slots=True)
class Desk:
    """`starts` tells the process of now from one that died while it served a request."""

    clock: ManualClock
    name: str = "api"
    starts: int = 0
    clock_good_us: int | None = None
    requests: int = 0
    answers: list[Answer] = field(default_factory=list)
    services: Services = field(init=False)

    def is_alive(self, start: int) -> bool:
        """Whether the process of that start still runs."""
        return self.starts == start

    def start(
        self,
        store: Store,
        database: SqliteDatabase,
        *,
        intercept: Callable[["Desk", int], Interceptor],
        payload_keys: TinkPayloadKeys,
        attempt_tokens: LocalAttemptTokens,
    ) -> None:
        """A process that knows nothing of the one before it."""
        self.starts += 1
        through = intercept(self, self.starts)
        self.services = Services(
            # Nothing rests on what is measured: between two measurements nothing can go wrong.
            store=replace(faulty_store(store, through), signals=store.signals),
            lanes=faulty_lanes(LocalLanes(database), through),
            events=LocalEvents(database),
            clock=self.clock,
            gate=ChangeGate(self.clock),
            authenticator=None,
            payload_keys=payload_keys,
            attempt_tokens=attempt_tokens,
            ownership=HttpOwnership(allow_loopback=True),
            settings=ApiSettings(allow_loopback=True, instance="sim"),
        )
        self.services.gate.now_us()  # what has read its clock can see a step

    def new_request(self, text: str) -> IdempotentRequest:
        """A request of its own; its repeats say the same with the same key."""
        self.requests += 1
        return IdempotentRequest(
            principal_id=PERSON.principal_id, key=f"request {self.requests}", fingerprint=text
        )

    def ask(
        self, operation: Operation, *, request: IdempotentRequest, match: Match, calls_before: int
    ) -> Answer:
        """One try. Raises Crash when the process dies in it: the client hears nothing."""
        call = Call(services=self.services, principal=PERSON, match=match, request=request)
        try:
            reply = operation(call)
            status, replayed, text = reply.status, reply.replayed, _told(reply.body)
        except PortError as error:
            problem = of_port_error(error)
            status, replayed, text = problem.status, False, f"{problem.detail} ({error})"
        except ApiProblem as problem:
            status, replayed, text = problem.status, False, problem.detail
        return self._heard(Answer(request.key, status, replayed, calls_before, text))

    def lost(self, request: IdempotentRequest, calls_before: int) -> Answer:
        """A try whose connection broke."""
        return self._heard(Answer(request.key, 503, False, calls_before, "no answer"))

    def tell(self, report: Report) -> str:
        """A target reports with its attempt's token; whether it was taken. Raises PortError."""
        claims = self.services.attempt_tokens.verify(report.token)
        assert claims is not None, report
        body = OutcomeIn.model_validate(
            {"outcome": report.outcome.value, "fire_key": str(report.key)}
        )
        return str(report_outcome(self.services, claims, body).body)

    def _heard(self, answer: Answer) -> Answer:
        self.answers.append(answer)
        return answer


def _told(body: Any) -> str:
    """What an apply says when all was so already: it then asks for no change."""
    if isinstance(body, ApplyOut):
        kinds = {entry.change for entry in body.entries}
        return NOTHING_TO_DO if kinds <= {ChangeKind.UNCHANGED} else f"done: {sorted(kinds)}"
    return "done"


def a_random_match(random: Random, etag: int | None) -> Match:
    """What a client says that puts something: mostly that it replaces whatever is there."""
    kind = random.random()
    if etag is None:
        return Match(anything=kind < 0.1, nothing=kind > 0.8)
    if kind < 0.6:
        return Match(anything=True)
    return Match() if kind < 0.8 else Match(revision=etag if kind < 0.95 else etag + 1)
