"""Versions never change, so their facts and their compiled rules are kept in memory, bounded."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from typing import Final, Generic, NamedTuple, TypeVar

from ports.errors import StoreUnavailable
from scheduling import versions
from scheduling.calendars import ExclusionCalendar
from scheduling.errors import RuleError
from scheduling.instants import SECOND_US
from scheduling.rules import Rules
from scheduling.vocabulary import FoldRule, GapRule, MissedPolicy, OverlapPolicy

VERSIONS_KEPT_MAX: Final = 100_000  # 140 MB of facts and rules when full
CALENDARS_KEPT_MAX: Final = 1_000  # of up to 10,000 dates each

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
    exclusion_calendars: tuple[ExclusionCalendar, ...] = ()


class Versions:
    """Facts and rules of versions by (tenant, trigger, version)."""

    def __init__(self, sql: Mapping[str, str]) -> None:
        self._statement = sql["version_facts"]
        self._calendar_statement = sql["calendar_dates"]
        self._facts = _Kept[VersionFacts]()
        self._rules = _Kept[Rules]()
        self._calendars = _Kept[ExclusionCalendar](CALENDARS_KEPT_MAX)
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

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Inside `changing`: a part of it that is rolled back alone if it raises."""
        keys, calendar_keys = frozenset(self._unsure.keys), frozenset(self._unsure.calendar_keys)
        try:
            yield
        except BaseException:
            self._unsure.begin()
            self._unsure.keys |= keys
            self._unsure.calendar_keys |= calendar_keys
            raise

    def wrote(self, key: Key) -> None:
        """This thread's open transaction has written the version."""
        self._unsure.keys.add(key)

    def wrote_calendar(self, key: Key) -> None:
        """This thread's open transaction has written the calendar's revision."""
        self._unsure.calendar_keys.add(key)

    def facts(self, connection: sqlite3.Connection, key: Key) -> VersionFacts:
        """A version's facts; KeyError when there is no such version."""
        kept = self._unsure.facts if key in self._unsure.keys else self._facts
        return kept.get(key, lambda: self._read(connection, key))

    def rules(self, connection: sqlite3.Connection, key: Key) -> Rules:
        """A version's compiled rules; RuleError when they do not compile."""
        kept = self._unsure.rules if key in self._unsure.keys else self._rules
        return kept.get(key, lambda: rules_of(key, self.facts(connection, key)))

    def calendar(self, connection: sqlite3.Connection, key: Key) -> ExclusionCalendar:
        """A revision of a calendar, shared by all versions that use it; KeyError without one."""
        unsure = key in self._unsure.calendar_keys
        kept = self._unsure.calendars if unsure else self._calendars
        return kept.get(key, lambda: self._read_calendar(connection, key))

    def _read_calendar(self, connection: sqlite3.Connection, key: Key) -> ExclusionCalendar:
        row = connection.execute(self._calendar_statement, key).fetchone()
        if row is None:
            raise KeyError(key)
        dates = tuple(date.fromisoformat(text) for text in json.loads(row[0]))
        return ExclusionCalendar(key[1], key[2], dates)

    def _read(self, connection: sqlite3.Connection, key: Key) -> VersionFacts:
        row = connection.execute(self._statement, key).fetchone()
        if row is None:
            raise KeyError(key)
        return _settings(*row[1:4], *row[7:10], *row[11:20])._replace(
            name=row[20],
            recurrence=_expressions(row[0]),
            starts_us=row[4],
            ends_us=row[5],
            exclusions=tuple(json.loads(row[6])),
            payload_ref=row[10],
            exclusion_calendars=tuple(
                self.calendar(connection, (key[0], calendar_id, revision))
                for calendar_id, revision in json.loads(row[21])
            ),
        )


@lru_cache(maxsize=8_192)
def _expressions(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


# Most versions of a tenant differ in name and schedule alone: the rest is kept once for all.
@lru_cache(maxsize=4_096)
def _settings(
    zone: str,
    gap: str,
    fold: str,
    max_fires: int | None,
    smear_s: int,
    target_id: str,
    missed: str,
    overlap: str,
    horizon_s: int,
    horizon_source: str,
    attempt_budget: int,
    retry_window_s: int,
    run_timeout_s: int,
    outcome_window_s: int,
    response_is_outcome: int,
) -> VersionFacts:
    return VersionFacts(
        name="",
        recurrence=(),
        zone=zone,
        gap_rule=GapRule(gap),
        fold_rule=FoldRule(fold),
        starts_us=None,
        ends_us=None,
        exclusions=(),
        max_fires=max_fires,
        smear_us=smear_s * SECOND_US,
        target_id=target_id,
        payload_ref=None,
        missed_policy=MissedPolicy(missed),
        overlap_policy=OverlapPolicy(overlap),
        horizon_us=horizon_s * SECOND_US,
        horizon_source=horizon_source,
        attempt_budget=attempt_budget,
        retry_window_us=retry_window_s * SECOND_US,
        run_timeout_us=run_timeout_s * SECOND_US,
        outcome_window_us=outcome_window_s * SECOND_US,
        response_is_outcome=bool(response_is_outcome),
        exclusion_calendars=(),
    )


def rules_of(key: Key, facts: VersionFacts) -> Rules:
    """Compile a version. What goes wrong here is the rule's fault, never the store's, but for
    what the process has run out of: memory, and files to read the zone from."""
    try:
        return versions.rules_of(facts, key, name=facts.name)
    except (RuleError, MemoryError):
        raise
    except OSError as error:
        raise StoreUnavailable(f"the zone data cannot be read: {error.strerror}") from error
    except Exception as error:
        raise RuleError(f"the recurrence does not compile: {error}") from error


class _Kept(Generic[V]):
    """A bounded memory that forgets its oldest half at once: cheap reads, rare clean-ups."""

    def __init__(self, limit: int = VERSIONS_KEPT_MAX) -> None:
        self._limit = limit
        self._items: dict[Key, V] = {}
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], V]) -> V:
        item = self._items.get(key)
        if item is None:
            item = make()
            with self._lock:
                if len(self._items) >= self._limit:
                    for old in list(self._items)[: self._limit // 2]:
                        del self._items[old]
                self._items[key] = item
        return item


class _Unsure(threading.local):
    """What this thread's open transaction has written, and may still take back."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.keys: set[Key] = set()
        self.calendar_keys: set[Key] = set()
        self.facts = _Kept[VersionFacts]()
        self.rules = _Kept[Rules]()
        self.calendars = _Kept[ExclusionCalendar]()
