"""Whoever follows the log of events learns of every change of a trigger, and how each fire stands.

Left out is what the relay leaves open: states that a fire passed through, and the place of a change
whose writer was late, or whose clock was behind another's.
"""

import json
from collections import defaultdict
from typing import NamedTuple

from scheduling.instants import from_text
from tests.sim.evidence import Evidence, Row, TriggerKey, fire_key

TRIGGER_CHANGED = "TriggerChanged"


class Told(NamedTuple):
    """One event of a fire, at its place in the log."""

    offset: int
    state: str
    changed_us: int


def check(evidence: Evidence) -> list[str]:
    """By the log after the calm."""
    problems = [
        f"never published: outbox row {row['outbox_id']}"
        for row in evidence.tables["outbox"]
        if row["sent_at"] is None
    ]
    outbox, log = evidence.rows("outbox"), evidence.rows("event_log")
    for key in sorted({*outbox, *log}):
        waiting = [row["body"] for row in outbox[key]]
        published = [row["body"] for row in log[key] if row["event"] == TRIGGER_CHANGED]
        if waiting != published:
            problems.append(f"changes of {key} were published as {published}"[:400])
    told = _told(evidence)
    for row in evidence.tables["fire"]:
        name = str(fire_key(row))
        last = told[name][-1] if told[name] else None
        if last is None or (last.state, last.changed_us) != (row["state"], row["changed_at"]):
            problems.append(f"{name} is {row['state']}, last told as {last}")
    return problems + _out_of_order(evidence, told)


def _told(evidence: Evidence) -> dict[str, list[Told]]:
    told: dict[str, list[Told]] = defaultdict(list)
    for row in sorted(evidence.tables["event_log"], key=lambda row: row["event_offset"]):
        if row["event"] != TRIGGER_CHANGED:
            body = json.loads(row["body"])
            changed_us = from_text(body["changed_at"])
            told[body["fire_key"]].append(Told(row["event_offset"], body["state"], changed_us))
    return told


def _out_of_order(evidence: Evidence, told: dict[str, list[Told]]) -> list[str]:
    """Last states of a trigger's fires, in the order in which they came to be."""
    problems: list[str] = []
    for key, entries in _in_time(evidence).items():
        before: list[Row] = []
        for entry in entries:
            own = _offset(told, entry)
            problems += [
                f"{fire_key(entry)} of {key} was told before {fire_key(other)}"
                for other in before
                if other["is_in_time"]
                and other["changed_at"] < entry["changed_at"]
                and _offset(told, other) > own
            ]
            before.append(entry)
    return problems


def _in_time(evidence: Evidence) -> dict[TriggerKey, list[Row]]:
    """The last entry of each fire, by trigger; in time is one that is newer than all before it."""
    entries = evidence.tables["sim_journal"]
    last = {fire_key(entry): entry["entry_id"] for entry in entries}
    found: dict[TriggerKey, list[Row]] = defaultdict(list)
    newest_us = 0
    for entry in entries:
        is_in_time = entry["changed_at"] > newest_us
        newest_us = max(newest_us, entry["changed_at"])
        if last[fire_key(entry)] == entry["entry_id"]:
            key = (entry["tenant_id"], entry["trigger_id"])
            found[key].append({**entry, "is_in_time": is_in_time})
    return found


def _offset(told: dict[str, list[Told]], entry: Row) -> int:
    """Where that state of a fire was first told; 0 where it never was, which is told elsewhere."""
    return next(
        (each.offset for each in told[str(fire_key(entry))] if each.state == entry["state"]), 0
    )
