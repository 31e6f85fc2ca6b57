"""A paused or deleted trigger is silent from the change's commit on.

A pause is of the schedule: runs by hand go on, and only a deletion ends them.
"""

from ports.changes import ChangeKind
from tests.sim.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """No claim succeeds while the last change that a trigger saw has stopped it."""
    paused: set[str] = set()
    deleted: set[str] = set()
    problems: list[str] = []
    for call in evidence.calls:
        if call.name == "registry.apply" and not call.arguments.get("dry_run"):
            for result in call.result:
                if result.replayed:
                    continue
                if result.kind is ChangeKind.PAUSED:
                    paused.add(result.trigger_id)
                elif result.kind is ChangeKind.DELETED:
                    deleted.add(result.trigger_id)
                elif result.kind is ChangeKind.RESUMED:
                    paused.discard(result.trigger_id)
        elif call.name == "ledger.claim":
            problems += [
                f"claimed though stopped: {fire.key} attempt {fire.n}"
                for fire in call.result
                if fire.key.trigger_id in deleted
                or (fire.key.trigger_id in paused and fire.key.sequence == 0)
            ]
    return problems
