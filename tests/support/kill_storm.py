"""The triggers of the SIGKILL test, their oracle, and what must hold at the end of it.

Every schedule names only seconds, so that the oracle is a walk over the seconds.
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import yaml

from tests.support.http_receiver import SECRET, Answer, Arrival, HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.seconds_oracle import cover_problems, instants

TENANT: Final = "acme"


class Kind(NamedTuple):
    """Triggers of one kind: the seconds of each minute, how many of them, their other keys."""

    seconds: str
    amount: int
    keys: dict[str, Any]


_ALL: Final = {"missed": "fire_all"}
_RESPONSE: Final = {"response_is_outcome": True}
KINDS: Final = {
    "each-all": Kind("*", 4, _ALL),
    "even-all": Kind("*/2", 4, _ALL),
    "list-all": Kind("1,2,3,20,21,40,57", 2, _ALL),
    "smeared-all": Kind("*/5", 3, _ALL | {"smear_s": 3}),
    "each-once": Kind("*", 3, {}),
    "even-once": Kind("*/2", 4, {}),
    "smeared-once": Kind("*/4", 3, {"smear_s": 2}),
    "third-skip": Kind("*/3", 2, {"missed": "skip"}),
    "even-overlap": Kind("*/2", 3, _RESPONSE | {"overlap": "skip"}),
    "even-buffered": Kind("*/2", 2, _RESPONSE | {"overlap": "buffer_one"}),
}


def triggers() -> Iterator[tuple[str, Kind]]:
    """Each trigger's name and kind."""
    for kind_name, kind in KINDS.items():
        for number in range(kind.amount):
            yield f"{kind_name}-{number}", kind


def storm_manifest(url: str, *, ends_at: str | None) -> str:
    """The manifest of them all; a second one with an end is an edit of every trigger."""
    end = {} if ends_at is None else {"ends_at": ends_at}
    tenant = {
        "quota_dispatch_per_s": 1_000,
        "catchup_rate_pct": 100,
        "targets": {"receiver": {"url": url, "timeout_s": 1, "secret": SECRET}},
        "defaults": {
            "zone": "UTC",
            "target": "receiver",
            "smear_s": 0,
            "run_timeout": "2s",
            "retry": {"attempts": 10, "window": "10m"},
        },
        "triggers": {
            name: {"schedule": f"{kind.seconds} * * * * *", "payload": {"of": name}}
            | kind.keys
            | end
            for name, kind in triggers()
        },
    }
    return yaml.safe_dump({"tenants": {TENANT: tenant}})


def moody(arrival: Arrival) -> Answer:
    """By key and attempt, so that a fire meets the same mood again: busy, slow, silent or well."""
    mood, share = blake2b(f"{arrival.key} {arrival.attempt}".encode(), digest_size=2).digest()
    if mood < 20:
        return Answer(503)
    if mood < 60:
        return Answer(after_s=share / 256 * 0.8)
    if mood < 64:
        return Answer(after_s=1.5)  # beyond the timeout
    return Answer()


class Verdict:
    """The ledger and the receiver's memory, after everything has come to its end."""

    def __init__(self, ledger: LedgerFile, receiver: HttpReceiver, *, ends_us: int) -> None:
        self._rows = ledger.rows()
        self._triggers = ledger.triggers()
        self._arrivals = list(receiver.arrivals)
        self._last_errors = {key: error for key, _, _, error in sorted(ledger.attempts())}
        self._ends_us = ends_us
        self._received = {arrival.key for arrival in self._arrivals}
        self._by_key = {row.key: row for row in self._rows}

    def problems(self) -> list[str]:
        """Every broken promise in one line."""
        return [*self._cover_problems(), *self._row_problems(), *self._arrival_problems()]

    def summary(self) -> str:
        states = Counter(row.state for row in self._rows)
        causes = Counter(row.cause for row in self._rows if row.cause is not None)
        repeats = len(self._arrivals) - len(self._received)
        return (
            f"{len(self._rows)} rows, {dict(states)}, {dict(causes)};"
            f" {len(self._received)} keys received, {repeats} repeats"
        )

    def _cover_problems(self) -> Iterator[str]:
        for name, kind in triggers():
            rows = [row for row in self._rows if row.trigger == name]
            created_us = self._triggers[name].created_us
            expected = instants(kind.seconds, after_us=created_us, through_us=self._ends_us)
            yield from (f"{name}: {problem}" for problem in cover_problems(expected, rows))

    def _row_problems(self) -> Iterator[str]:
        kinds = dict(triggers())
        for row in self._rows:
            has_arrived = row.key in self._received
            if row.state == "not_dispatched":
                if has_arrived:
                    yield f"not dispatched, but received: {row}"
            elif not has_arrived:
                # Only a dispatcher's death between claim and connect may end so, and be told.
                is_told = row.state == "unknown" and self._last_errors[row.key] == "claim expired"
                if not is_told or kinds[row.trigger].keys.get("missed") == "fire_all":
                    yield f"dispatched, but never received: {row}"

    def _arrival_problems(self) -> Iterator[str]:
        bodies: dict[str, dict[str, Any]] = {}
        for arrival in self._arrivals:
            row = self._by_key.get(arrival.key)
            if row is None:
                yield f"received, but not in the ledger: {arrival}"
            elif arrival.at_us < row.due_us:
                yield f"early by {row.due_us - arrival.at_us} us: {arrival}"
            body = {key: value for key, value in arrival.body.items() if key != "attempt"}
            if bodies.setdefault(arrival.key, body) != body:
                yield f"another body under one key: {arrival}, {bodies[arrival.key]}"
            if body["payload"] != {"of": arrival.trigger}:
                yield f"not its payload: {arrival}"
