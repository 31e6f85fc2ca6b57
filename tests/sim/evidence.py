"""What a checker may look at: the store's file, what targets received, and the calls it served.

Nothing here comes from an engine's memory. Expected instants come from the slow oracle, walked
once per recurrence and night.
"""

import json
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ports.changes import Change, ChangeKind, ChangeResult
from scheduling.instants import from_us, to_text, to_us
from scheduling.keys import FireKey
from scheduling.smear import smear_us
from scheduling.vocabulary import FoldRule, GapRule
from tests.sim.definitions import WINDOW_US
from tests.sim.desk import Answer
from tests.sim.world import Call
from tests.support.oracle import enumerate_instants
from tests.support.scripted_target import Receipt

TriggerKey = tuple[str, str]
Row = dict[str, Any]


class Interval(NamedTuple):
    """The time in which one span applies: after exclusive, through inclusive, None = open."""

    after_us: int
    through_us: int | None
    kind: str
    version: int
    is_last: bool


class Effect(NamedTuple):
    """One change that changed something, at its place among the calls."""

    place: int
    change: Change
    result: ChangeResult


@dataclass(frozen=True, slots=True)
class Evidence:
    """One world after its end. Rows are dicts by column; times in microseconds."""

    path: Path
    start_us: int
    now_us: int
    receipts: Sequence[Receipt]
    calls: Sequence[Call]
    answers: Sequence[Answer]
    tables: dict[str, list[Row]]
    by_trigger: dict[str, dict[TriggerKey, list[Row]]]

    def rows(self, table: str) -> dict[TriggerKey, list[Row]]:
        """A table's rows by trigger, in the order of its primary key."""
        return self.by_trigger[table]

    def intervals(self, key: TriggerKey) -> list[Interval]:
        """The trigger's spans, each until the next begins; empty ones left out."""
        spans = self.rows("trigger_span")[key]
        ends: list[int | None] = [span["from_at"] for span in spans[1:]]
        return [
            Interval(span["from_at"], end, span["kind"], span["version"], end is None)
            for span, end in zip(spans, [*ends, None], strict=True)
            if end is None or end > span["from_at"]
        ]

    def version(self, key: TriggerKey, number: int) -> Row:
        """A version's row."""
        return next(row for row in self.rows("trigger_version")[key] if row["version"] == number)

    def instants(self, key: TriggerKey, number: int) -> Sequence[int]:
        """Every instant of a version in the night, by the oracle."""
        version = self.version(key, number)
        return _oracle(
            tuple(json.loads(version["recurrence"])),
            version["zone"],
            version["gap_rule"],
            version["fold_rule"],
            self._excluded(key[0], version),
            self.start_us,
        )

    def _excluded(self, tenant_id: str, version: Row) -> tuple[str, ...]:
        """The dates of a version's own and of the revisions of calendars that it names."""
        named = {(tenant_id, name, revision) for name, revision in json.loads(version["calendars"])}
        found = set(json.loads(version["exclusions"]))
        for row in self.tables["calendar_version"]:
            if (row["tenant_id"], row["calendar_id"], row["revision"]) in named:
                found.update(json.loads(row["dates"]))
        return tuple(sorted(found))

    def expected(self, key: TriggerKey, interval: Interval) -> Sequence[int]:
        """The instants of one span, by the oracle."""
        listed = self.instants(key, interval.version)
        first = bisect_right(listed, interval.after_us)
        if interval.through_us is None:
            return listed[first:]
        return listed[first : bisect_right(listed, interval.through_us)]

    def due_us(self, key: TriggerKey, number: int, instant_us: int) -> int:
        """An instant's due time under a version."""
        smear_max_us = self.version(key, number)["smear_s"] * 1_000_000
        listed = self.instants(key, number)
        after = bisect_right(listed, instant_us)
        if after < len(listed):
            smear_max_us = min(smear_max_us, listed[after] - instant_us)
        return instant_us + smear_us(*key, instant_us=instant_us, window_us=smear_max_us)


def gather(
    path: Path,
    *,
    start_us: int,
    now_us: int,
    receipts: Sequence[Receipt],
    calls: Sequence[Call],
    answers: Sequence[Answer],
) -> Evidence:
    """Read every table of the store's file."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    try:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        tables = {
            name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')]
            for name in names
        }
    finally:
        connection.close()
    by_trigger = {name: _by_trigger(rows) for name, rows in tables.items()}
    return Evidence(path, start_us, now_us, receipts, calls, answers, tables, by_trigger)


def applied(evidence: Evidence) -> Iterator[tuple[int, Call]]:
    """Every call that committed changes, or found them made, with its place.

    A call without changes only looks whether its request was answered before.
    """
    for index, call in enumerate(evidence.calls):
        if call.name != "registry.apply" or call.arguments.get("dry_run"):
            continue
        (changes,) = call.arguments["args"]
        if changes:
            yield index, call


def effects(evidence: Evidence) -> Iterator[Effect]:
    """Every change that changed something, in the order of the commits."""
    for place, call in applied(evidence):
        (changes,) = call.arguments["args"]
        for change, result in zip(changes, call.result, strict=True):
            if not result.replayed and result.kind is not ChangeKind.UNCHANGED:
                yield Effect(place, change, result)


def _by_trigger(rows: list[Row]) -> dict[TriggerKey, list[Row]]:
    found: dict[TriggerKey, list[Row]] = defaultdict(list)
    for row in rows:
        if "trigger_id" in row:
            found[(row["tenant_id"], row["trigger_id"])].append(row)
    return found


def fire_key(row: Row) -> FireKey:
    """The key in a row of the ledger, an attempt or a slot."""
    return FireKey(row["tenant_id"], row["trigger_id"], row["scheduled_instant"], row["sequence"])


def said(key: TriggerKey, instant_us: int) -> str:
    """A trigger's instant, for a message."""
    return f"{key[0]}/{key[1]} {to_text(instant_us)}"


@lru_cache(maxsize=500)
def _oracle(
    recurrence: tuple[str, ...],
    zone: str,
    gap_rule: str,
    fold_rule: str,
    excluded: tuple[str, ...],
    start_us: int,
) -> tuple[int, ...]:
    instants = enumerate_instants(
        recurrence,
        zone,
        gap=GapRule(gap_rule),
        fold=FoldRule(fold_rule),
        after=from_us(start_us - 60_000_000),
        through=from_us(start_us + WINDOW_US),
        exclusions=[date.fromisoformat(each) for each in excluded],
    )
    return tuple(to_us(instant) for instant in instants)
