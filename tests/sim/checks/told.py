"""Each change that changed something is in the audit and the outbox once, in order."""

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, zip_longest

from ports.changes import CancelFire, PutTarget, PutTenant, RunTrigger
from tests.sim.desk import PERSON
from tests.sim.evidence import Effect, Evidence, TriggerKey, effects

ACTIONS = {
    PutTenant: "tenant_put",
    PutTarget: "target_put",
    RunTrigger: "trigger_run",
    CancelFire: "fire_cancelled",
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
    wanted = [(_action(each), each.result.tenant_id, each.result.subject) for each in made]
    problems = [] if told == wanted else [f"the audit tells otherwise: {_part(told, wanted)}"]
    return problems + _events(evidence, made)


def _events(evidence: Evidence, made: list[Effect]) -> list[str]:
    wanted: dict[TriggerKey, list[tuple[str, int | None]]] = defaultdict(list)
    for effect in made:
        result = effect.result
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


def _action(effect: Effect) -> str:
    return ACTIONS.get(type(effect.change), f"trigger_{effect.result.kind}")


def _part(told: Sequence[object], wanted: Sequence[object]) -> str:
    """Where two lists part."""
    for place, (one, other) in enumerate(zip_longest(told, wanted)):
        if one != other:
            return f"at {place}: {one} instead of {other}"
    return "nowhere"
