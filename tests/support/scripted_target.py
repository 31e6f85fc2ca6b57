"""A target in memory: it answers each attempt as its script says, runs the work, reports on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ports.records import ClaimedFire
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from scheduling.retry import AttemptResult
from scheduling.vocabulary import FireState, TransportResult


class Answer(NamedTuple):
    """What becomes of one attempt. Durations in microseconds.

    status:     the HTTP status; None = no answer arrives before the timeout
    after_us:   how long the answer takes; longer than the timeout is no answer
    reached:    False = the connection was refused, the target saw nothing
    tried:      False = whoever was to send it lacked what that takes, and did not try
    cause:      what the work says beside its outcome
    runs:       whether the work starts; it then lasts `lasts_us` and its outcome is reported
    lasts_us:   None = nothing is ever reported about the run
    """

    status: int | None = 200
    after_us: int = 0
    reached: bool = True
    runs: bool = True
    lasts_us: int | None = 0
    outcome: FireState = FireState.SUCCEEDED
    retry_after_us: int | None = None
    tried: bool = True
    cause: str | None = None


ACCEPTED: Final = Answer()
REFUSED: Final = Answer(400, runs=False)
BUSY: Final = Answer(503, runs=False)
UNREACHABLE: Final = Answer(reached=False, runs=False)
SILENT: Final = Answer(None, runs=False)
UNTRIED: Final = Answer(reached=False, runs=False, tried=False)


class Receipt(NamedTuple):
    """One request as the target saw it; `run_ends_us` is None where no end is known."""

    fire: ClaimedFire
    at_us: int
    answer: Answer
    run_ends_us: int | None
    token: str


class OpenAttempt(NamedTuple):
    """A request whose result comes back at `back_us`; `claimed_until_us` is its claim's."""

    key: FireKey
    n: int
    back_us: int
    result: AttemptResult
    claimed_until_us: int


class Report(NamedTuple):
    """What the target tells about a run, at `at_us`, with the token that attempt `n` brought."""

    at_us: int
    key: FireKey
    outcome: FireState
    n: int
    token: str
    cause: str | None = None


@dataclass(slots=True)
class ScriptedTarget:
    """`now_us` is the true time; `script` is asked once per attempt."""

    now_us: Callable[[], int]
    script: Callable[[ClaimedFire], Answer] = lambda fire: ACCEPTED
    receipts: list[Receipt] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)  # not yet made

    def receive(self, fire: ClaimedFire, token: str) -> OpenAttempt:
        """One attempt arrives, or fails to."""
        now_us = self.now_us()
        answer = self.script(fire)
        if not answer.tried:
            return _open(fire, now_us, AttemptResult(TransportResult.UNTRIED, error="no files"))
        if not answer.reached:
            result = AttemptResult(TransportResult.NOT_SENT, error="connection refused")
            return _open(fire, now_us, result)
        ends_us = None
        if answer.runs and answer.lasts_us is not None:
            ends_us = now_us + answer.lasts_us
            self.reports.append(
                Report(ends_us, fire.key, answer.outcome, fire.n, token, answer.cause)
            )
        self.receipts.append(Receipt(fire, now_us, answer, ends_us, token))
        timeout_us = round(fire.timeout_s * SECOND_US)
        if answer.status is None or answer.after_us > timeout_us:
            result = AttemptResult(TransportResult.AMBIGUOUS, error="timeout")
            return _open(fire, now_us + timeout_us, result)
        result = AttemptResult(TransportResult.RESPONSE, answer.status, answer.retry_after_us)
        return _open(fire, now_us + answer.after_us, result)

    def due_reports(self) -> list[Report]:
        """The reports whose time has come, oldest first."""
        now_us = self.now_us()
        return sorted(report for report in self.reports if report.at_us <= now_us)

    def reported(self, report: Report) -> None:
        """The service has taken a report, perhaps more than once."""
        if report in self.reports:
            self.reports.remove(report)


def _open(fire: ClaimedFire, back_us: int, result: AttemptResult) -> OpenAttempt:
    return OpenAttempt(fire.key, fire.n, back_us, result, fire.claimed_until_us)
