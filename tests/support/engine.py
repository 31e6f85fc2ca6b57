"""One process of the service, cranked by hand: the real decider, and a dispatcher in plain steps.

`look` is one pass of the product's own decider: leases, clock gate, decisions, publication,
repair. The dispatcher's steps are separate, so that a test can stop between any two of them.
"""

from dataclasses import dataclass, field
from typing import Final

from ports.attempt_tokens import AttemptTokensPort
from ports.lanes import LanesPort
from ports.records import ClaimedFire, ClaimRequest, FinishRequest, FinishResult
from ports.store import Store
from punctual.decider import Decider, Pass
from scheduling.clock_gate import GateState, observe
from scheduling.instants import SECOND_US
from scheduling.vocabulary import Lane
from schemas.well_known import web_origin
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import OpenAttempt, Report, ScriptedTarget

LANES: Final = (Lane.ON_TIME, Lane.CATCH_UP)
LEASE_TTL_US: Final = 6 * SECOND_US
PULL_MAX: Final = 50
PULL_LEASE_US: Final = 5 * SECOND_US


@dataclass(slots=True)
class Engine:
    """One owner on a store, its lanes and a target.

    `claimed` are attempts not yet sent, `open_attempts` those whose result is still out: what a
    dispatcher has in memory, and loses when it dies.
    """

    store: Store
    lanes: LanesPort
    clock: ManualClock
    target: ScriptedTarget
    attempt_tokens: AttemptTokensPort
    owner_id: str
    decider: Decider = field(init=False)
    gate: GateState = field(default_factory=GateState)
    claimed: list[ClaimedFire] = field(default_factory=list)
    open_attempts: list[OpenAttempt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.decider = Decider(
            store=self.store,
            lanes=self.lanes,
            clock=self.clock,
            owner_id=self.owner_id,
            lease_ttl_us=LEASE_TTL_US,
        )

    def look(self) -> Pass:
        """One pass of the decider."""
        return self.decider.step()

    def take(self) -> int:
        """Pull, claim, acknowledge, on a clock that is right; returns how many were pulled."""
        now_us = self._now_us()
        if now_us is None:
            return 0
        delivered = self.lanes.pull(LANES, limit=PULL_MAX, now_us=now_us, lease_us=PULL_LEASE_US)
        now_us = self._now_us()
        if not delivered or now_us is None:
            return 0
        requests = [ClaimRequest(item.message.key, item.message.n) for item in delivered]
        fires = self.store.ledger.claim(requests, now_us=now_us)
        self.claimed = [*self.claimed, *fires]  # others may have acted during the call
        self.lanes.ack([item.handle for item in delivered])
        return len(delivered)

    def send(self) -> int:
        """Deliver what was claimed; returns how many attempts went out."""
        claimed, self.claimed = self.claimed, []
        sent = [self.target.receive(fire, self._token_of(fire)) for fire in claimed]
        self.open_attempts = [*self.open_attempts, *sent]
        return len(claimed)

    def collect(self) -> int:
        """Record the results that came back; returns how many."""
        now_us = self.target.now_us()
        back = [attempt for attempt in self.open_attempts if attempt.back_us <= now_us]
        if not back:
            return 0
        ended_us = self.clock.now().wall_us
        finished = self.store.ledger.finish(
            [
                FinishRequest(each.key, each.n, each.result, ended_us, each.claimed_until_us)
                for each in back
            ]
        )
        self.open_attempts = [each for each in self.open_attempts if each not in back]
        self._publish(finished)
        return len(back)

    def report(self, report: Report) -> None:
        """Take in what a target says about a run."""
        result = self.store.ledger.report_outcome(
            report.key,
            report.outcome,
            now_us=self.clock.now().wall_us,
            reported_by="target",
            cause=report.cause,
        )
        self._publish([result] if result is not None else [])

    def _token_of(self, fire: ClaimedFire) -> str:
        return self.attempt_tokens.mint(
            fire.key,
            fire.n,
            audience=web_origin(fire.endpoint),
            now_us=self.clock.now().wall_us,
            expires_us=fire.claimed_until_us,
        )

    def _now_us(self) -> int | None:
        reading = self.clock.now()
        self.gate, verdict = observe(self.gate, reading)
        return reading.wall_us if verdict.is_open else None

    def _publish(self, finished: list[FinishResult]) -> None:
        ready = [message for result in finished for message in result.ready]
        if ready:
            self.lanes.publish(ready)
            self.store.ledger.mark_queued(ready, now_us=self.clock.now().wall_us)
