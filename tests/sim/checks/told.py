"""Each change that changed something is in the audit and the outbox once, in order."""

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, zip_longest

from ports.changes import (
    CancelFire,
    ChangeKind,
    DeleteCalendar,
    PutCalendar,
    PutTarget,
    PutTenant,
    RunTrigger,
)
from tests.sim.desk import PERSON
from tests.sim.evidence import Effect, Evidence, TriggerKey, effects

ACTIONS = {
    PutTenant: "tenant_put",
    PutTarget: "target_put",
    RunTrigger: "trigger_run",
    CancelFire: "fire_cancelled",
    PutCalendar: "calendar_put",
    DeleteCalendar: "calendar_deleted",
}
OWN_EVENTS = ("quarantined",)  # of the decider


def check(evidence: Evidence) -> list[str]:
    """By the effects as the registry served them."""
    made = list(effects(evidence))
    entries = sorted(evidence.tables["audit_entry"], key=lambda row: row["audit_id"])
    told = [
        (row["action"], row["tenant_id"], row["subject"])
        for row in entries
        if row["actor"] == PERSON.principal_id
    ]
    wanted = [entry for each in made for entry in _entries(evidence, each)]
    problems = [] if told == wanted else [f"the audit tells otherwise: {_part(told, wanted)}"]
    return problems + _events(evidence, made)


def _events(evidence: Evidence, made: list[Effect]) -> list[str]:
    wanted: dict[TriggerKey, list[tuple[str, int | None]]] = defaultdict(list)
    for effect in made:
        result = effect.result
        for _, key in _followers(evidence, effect):
            wanted[key].append((ChangeKind.EDITED, (wanted[key][-1][1] or 0) + 1))
        if result.trigger_id is not None and type(effect.change) not in ACTIONS:
            wanted[(result.tenant_id, result.trigger_id)].append((result.kind, result.revision))
    problems: list[str] = []
    rows = evidence.rows("outbox")
    for key in sorted({*wanted, *rows}):
        bodies = [json.loads(row["body"]) for row in rows[key]]
        told = [(each["kind"], each["revision"]) for each in bodies]
        changes = [each for each in told if each[0] not in OWN_EVENTS]
        if changes != wanted[key]:
            problems.append(f"events of {key}: {_part(changes, wanted[key])}")
        problems += [
            f"events of {key} out of order: {after} behind {before}"
            for before, after in pairwise(told)
            if after[1] <= before[1]
        ]
    return problems


def _entries(evidence: Evidence, effect: Effect) -> list[tuple[str, str, str]]:
    """Its own, and one of each trigger that follows a calendar, by name."""
    tenant_id = effect.result.tenant_id
    followers = sorted(_followers(evidence, effect))
    return [
        (_action(effect), tenant_id, effect.result.subject),
        *(("trigger_edited", tenant_id, name) for name, _ in followers),
    ]


def _followers(evidence: Evidence, effect: Effect) -> list[tuple[str, TriggerKey]]:
    """The triggers whose version went from an older revision of a calendar to this one."""
    if not isinstance(effect.change, PutCalendar):
        return []
    tenant_id, subject, revision = (
        effect.result.tenant_id, effect.result.subject, effect.result.revision,
    )  # fmt: skip
    found = []
    for trigger in evidence.tables["trigger"]:
        key = (trigger["tenant_id"], trigger["trigger_id"])
        versions = evidence.rows("trigger_version")[key] if key[0] == tenant_id else []
        named = [dict(json.loads(version["calendars"])) for version in versions]
        if any(
            after.get(subject) == revision and subject in before and before[subject] != revision
            for before, after in pairwise(named)
        ):
            found.append((trigger["name"], key))
    return found


def _action(effect: Effect) -> str:
    return ACTIONS.get(type(effect.change), f"trigger_{effect.result.kind}")


def _part(told: Sequence[object], wanted: Sequence[object]) -> str:
    """Where two lists part."""
    for place, (one, other) in enumerate(zip_longest(told, wanted)):
        if one != other:
            return f"at {place}: {one} instead of {other}"
    return "nowhere"
