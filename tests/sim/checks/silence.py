"""A paused or deleted trigger is silent from the change's commit on."""

from ports.changes import ChangeKind
from tests.sim.evidence import Evidence

STOPS = {ChangeKind.PAUSED, ChangeKind.DELETED}


def check(evidence: Evidence) -> list[str]:
    """No claim succeeds while the last change that a trigger saw has stopped it."""
    stopped: set[str] = set()
    problems: list[str] = []
    for call in evidence.calls:
        if call.name == "registry.apply":
            for result in call.result:
                if result.kind in STOPS:
                    stopped.add(result.trigger_id)
                elif result.kind is ChangeKind.RESUMED:
                    stopped.discard(result.trigger_id)
        elif call.name == "ledger.claim":
            problems += [
                f"claimed though stopped: {fire.key} attempt {fire.n}"
                for fire in call.result
                if fire.key.trigger_id in stopped
            ]
    return problems
