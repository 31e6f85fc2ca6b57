"""The triggers of the SIGKILL test, their oracle, and what must hold at the end of it.

Every schedule names only seconds, so that the oracle is a walk over the seconds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import yaml

from scheduling.instants import SECOND_US
from tests.support.http_receiver import SECRET, Answer, Arrival, HttpReceiver
from tests.support.ledger_file import LedgerFile, LedgerRow
from tests.support.seconds_oracle import cover_problems, instants

TENANT: Final = "acme"
GRACE_US: Final = 5 * SECOND_US  # all of these are due often: the least grace is theirs
HORIZON_US: Final = 3_600 * SECOND_US
RECEIVED_SHARE_MIN: Final = 0.5  # of the instants of a trigger; most outages are within grace
# What also gives way to the run before it, which a busy machine keeps under way for longer.
RECEIVED_SHARE_OF_OVERLAP_MIN: Final = 0.3
_CAUSE_OF_MISSED: Final = {"fire_once_now": "coalesced", "skip": "skipped_by_policy"}


class Kind(NamedTuple):
    """Triggers of one kind: the seconds of each minute, how many of them, their other keys."""

    seconds: str
    amount: int
    keys: dict[str, Any]

    @property
    def misses_nothing(self) -> bool:
        return self.keys.get("missed") == "fire_all"

    @property
    def received_share_min(self) -> float:
        return RECEIVED_SHARE_OF_OVERLAP_MIN if "overlap" in self.keys else RECEIVED_SHARE_MIN

    @property
    def causes(self) -> frozenset[str]:
        """Why an instant may not have been sent, as the trigger's policies have it."""
        causes = {_CAUSE_OF_MISSED[self.keys.get("missed", "fire_once_now")]}
        if "overlap" in self.keys:
            causes.add("overlap")
        return frozenset(causes)


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


class Evidence(NamedTuple):
    """What the ledger and the receiver remember. `created_us` is by trigger name."""

    rows: Sequence[LedgerRow]
    created_us: dict[str, int]
    arrivals: Sequence[Arrival]
    last_errors: dict[str, str | None]


def gather(ledger: LedgerFile, receiver: HttpReceiver) -> Evidence:
    """The evidence as it stands; `last_errors` are those of each fire's last attempt."""
    return Evidence(
        ledger.rows(),
        {name: row.created_us for name, row in ledger.triggers().items()},
        list(receiver.arrivals),
        {key: error for key, _, _, error in sorted(ledger.attempts())},
    )


class Verdict:
    """What the evidence says after everything has come to its end."""

    def __init__(self, evidence: Evidence, *, ends_us: int) -> None:
        self._evidence = evidence
        self._ends_us = ends_us
        self._received = {arrival.key for arrival in evidence.arrivals}
        self._by_key = {row.key: row for row in evidence.rows}

    def problems(self) -> list[str]:
        """Every broken promise in one line."""
        return [*self._trigger_problems(), *self._row_problems(), *self._arrival_problems()]

    @property
    def causes(self) -> Counter[str]:
        """How many rows were not dispatched, by cause."""
        return Counter(row.cause for row in self._evidence.rows if row.cause is not None)

    def summary(self) -> str:
        rows, arrivals = self._evidence.rows, self._evidence.arrivals
        states = Counter(row.state for row in rows)
        return (
            f"{len(rows)} rows, {dict(states)}, {dict(self.causes)};"
            f" {len(self._received)} keys received, {len(arrivals) - len(self._received)} repeats;"
            f" shares {self._shares()}"
        )

    def _shares(self) -> dict[str, float]:
        """By trigger, the received share of what was due."""
        return {
            name: round(len(self._received_of(name)) / len(self._expected_of(name, kind)), 2)
            for name, kind in triggers()
        }

    def _expected_of(self, name: str, kind: Kind) -> list[int]:
        created_us = self._evidence.created_us[name]
        return instants(kind.seconds, after_us=created_us, through_us=self._ends_us)

    def _received_of(self, name: str) -> set[int]:
        """The instants of a trigger that arrived, whatever the ledger says."""
        return {_instant_of(each.key) for each in self._evidence.arrivals if each.trigger == name}

    def _trigger_problems(self) -> Iterator[str]:
        for name, kind in triggers():
            rows = [row for row in self._evidence.rows if row.trigger == name]
            expected, received = self._expected_of(name, kind), self._received_of(name)
            yield from (f"{name}: {problem}" for problem in cover_problems(expected, rows))
            if kind.misses_nothing:
                yield from (f"{name}: {us} never received" for us in set(expected) - received)
            elif len(received) < kind.received_share_min * len(expected):
                yield f"{name}: only {len(received)} of {len(expected)} received"
            yield from (f"{name}: {us} was never due" for us in received - set(expected))

    def _row_problems(self) -> Iterator[str]:
        kinds = dict(triggers())
        for row in self._evidence.rows:
            has_arrived = row.key in self._received
            if row.state == "not_dispatched":
                if has_arrived:
                    yield f"not dispatched, but received: {row}"
                elif not self._may_be_absent(row, kinds[row.trigger]):
                    yield f"not dispatched against its policy: {row}"
            elif not has_arrived and not self._is_told_lost(row, kinds[row.trigger]):
                yield f"dispatched, but never received: {row}"

    def _may_be_absent(self, row: LedgerRow, kind: Kind) -> bool:
        """Whether its policies allow the row's cause, and what is seen bears it out."""
        if kind.misses_nothing:
            return False
        late_us = row.changed_us - row.last_us
        if row.cause == "expired_past_horizon":
            return late_us > HORIZON_US
        if row.cause not in kind.causes:
            return False
        if row.cause == "overlap":
            return True
        return late_us > GRACE_US and (row.cause != "coalesced" or self._stands_for(row))

    def _stands_for(self, row: LedgerRow) -> bool:
        """Whether the fire that a row was coalesced into went, or one further on did.

        One that met a run still under way was left out for that, by its own policy.
        """
        last_us, into_us = row.last_us, row.into_us
        while into_us is not None and into_us > last_us:
            into = self._by_key.get(_key_at(row.key, into_us))
            if into is None:
                return False
            if into.state != "not_dispatched" or into.cause == "overlap":
                return True
            last_us, into_us = into.scheduled_us, into.into_us
        return False

    def _is_told_lost(self, row: LedgerRow, kind: Kind) -> bool:
        """Only a dispatcher's death between claim and connect may end so, and be told."""
        is_told = self._evidence.last_errors.get(row.key) == "claim expired"
        return row.state == "unknown" and is_told and not kind.misses_nothing

    def _arrival_problems(self) -> Iterator[str]:
        bodies: dict[str, dict[str, Any]] = {}
        for arrival in self._evidence.arrivals:
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


def _instant_of(key: str) -> int:
    return int(key.split("~")[2])


def _key_at(key: str, instant_us: int) -> str:
    """The key of the same trigger's scheduled fire at another instant."""
    tenant_id, trigger_id, _, _ = key.split("~")
    return f"{tenant_id}~{trigger_id}~{instant_us}~0"
