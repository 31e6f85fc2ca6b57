"""Versions never change, so their facts and their compiled rules are kept in memory, bounded."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from typing import Final, Generic, NamedTuple, TypeVar

from scheduling import compile_recurrence
from scheduling.errors import RuleError
from scheduling.instants import SECOND_US, from_us
from scheduling.rules import Rules
from scheduling.vocabulary import FoldRule, GapRule, MissedPolicy, OverlapPolicy

VERSIONS_KEPT_MAX: Final = 250_000

Key = tuple[str, str, int]
V = TypeVar("V")


class VersionFacts(NamedTuple):
    """A version's row, with the trigger's name. Durations in microseconds."""

    name: str
    recurrence: tuple[str, ...]
    zone: str
    gap_rule: GapRule
    fold_rule: FoldRule
    starts_us: int | None
    ends_us: int | None
    exclusions: tuple[str, ...]
    max_fires: int | None
    smear_us: int
    target_id: str
    payload_ref: str | None
    missed_policy: MissedPolicy
    overlap_policy: OverlapPolicy
    horizon_us: int
    horizon_source: str
    attempt_budget: int
    retry_window_us: int
    run_timeout_us: int
    outcome_window_us: int
    response_is_outcome: bool


class Versions:
    """Facts and rules of versions by (tenant, trigger, version)."""

    def __init__(self, sql: Mapping[str, str]) -> None:
        self._statement = sql["version_facts"]
        self._facts = _Kept[VersionFacts]()
        self._rules = _Kept[Rules]()
        self._unsure = _Unsure()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around a transaction that writes versions, for the thread that runs it.

        A number can come again with another definition after a rollback, so what `wrote` names
        is remembered only until the end of the block.
        """
        self._unsure.begin()
        try:
            yield
        finally:
            self._unsure.begin()

    def wrote(self, key: Key) -> None:
        """This thread's open transaction has written the version."""
        self._unsure.keys.add(key)

    def facts(self, connection: sqlite3.Connection, key: Key) -> VersionFacts:
        """A version's facts; KeyError when there is no such version."""
        kept = self._unsure.facts if key in self._unsure.keys else self._facts
        return kept.get(key, lambda: self._read(connection, key))

    def rules(self, connection: sqlite3.Connection, key: Key) -> Rules:
        """A version's compiled rules; RuleError when they do not compile."""
        kept = self._unsure.rules if key in self._unsure.keys else self._rules
        return kept.get(key, lambda: rules_of(key, self.facts(connection, key)))

    def _read(self, connection: sqlite3.Connection, key: Key) -> VersionFacts:
        row = connection.execute(self._statement, key).fetchone()
        if row is None:
            raise KeyError(key)
        return VersionFacts(
            name=row[20],
            recurrence=tuple(json.loads(row[0])),
            zone=row[1],
            gap_rule=GapRule(row[2]),
            fold_rule=FoldRule(row[3]),
            starts_us=row[4],
            ends_us=row[5],
            exclusions=tuple(json.loads(row[6])),
            max_fires=row[7],
            smear_us=row[8] * SECOND_US,
            target_id=row[9],
            payload_ref=row[10],
            missed_policy=MissedPolicy(row[11]),
            overlap_policy=OverlapPolicy(row[12]),
            horizon_us=row[13] * SECOND_US,
            horizon_source=row[14],
            attempt_budget=row[15],
            retry_window_us=row[16] * SECOND_US,
            run_timeout_us=row[17] * SECOND_US,
            outcome_window_us=row[18] * SECOND_US,
            response_is_outcome=bool(row[19]),
        )


def rules_of(key: Key, facts: VersionFacts) -> Rules:
    """Compile a version. Whatever goes wrong here is the rule's fault, never the store's."""
    tenant_id, trigger_id, version = key
    try:
        recurrence = compile_recurrence(
            facts.recurrence[0] if len(facts.recurrence) == 1 else facts.recurrence,
            facts.zone,
            gap=facts.gap_rule,
            fold=facts.fold_rule,
            starts_at=None if facts.starts_us is None else from_us(facts.starts_us),
            ends_at=None if facts.ends_us is None else from_us(facts.ends_us),
            exclusions=[date.fromisoformat(text) for text in facts.exclusions],
            identity=(tenant_id, facts.name),
        )
    except (RuleError, MemoryError):  # the latter is the process's trouble, not the rule's
        raise
    except Exception as error:
        raise RuleError(f"the recurrence does not compile: {error}") from error
    return Rules(
        tenant_id=tenant_id,
        trigger_id=trigger_id,
        version=version,
        recurrence=recurrence,
        missed_policy=facts.missed_policy,
        overlap_policy=facts.overlap_policy,
        horizon_us=facts.horizon_us,
        horizon_source=facts.horizon_source,
        smear_us=facts.smear_us,
        max_fires=facts.max_fires,
    )


class _Kept(Generic[V]):
    """A bounded memory that forgets its oldest half at once: cheap reads, rare clean-ups."""

    def __init__(self) -> None:
        self._items: dict[Key, V] = {}
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], V]) -> V:
        item = self._items.get(key)
        if item is None:
            item = make()
            with self._lock:
                if len(self._items) >= VERSIONS_KEPT_MAX:
                    for old in list(self._items)[: VERSIONS_KEPT_MAX // 2]:
                        del self._items[old]
                self._items[key] = item
        return item


class _Unsure(threading.local):
    """What this thread's open transaction has written, and may still take back."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.keys: set[Key] = set()
        self.facts = _Kept[VersionFacts]()
        self.rules = _Kept[Rules]()
