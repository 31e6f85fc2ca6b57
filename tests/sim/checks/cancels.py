"""A cancelled fire is never dispatched after its cancel, and says that it was cancelled."""

from ports.changes import CancelFire
from scheduling.keys import FireKey
from tests.sim.evidence import Evidence, effects, fire_key


def check(evidence: Evidence) -> list[str]:
    """By the claims as the ledger served them; one that was tried before ends as it stands."""
    cancelled: dict[FireKey, int] = {}
    for effect in effects(evidence):
        if isinstance(effect.change, CancelFire):
            cancelled[effect.change.key] = effect.place
    problems = [
        f"claimed after its cancel: {fire.key} attempt {fire.n}"
        for index, call in enumerate(evidence.calls)
        if call.name == "ledger.claim"
        for fire in call.result
        if cancelled.get(fire.key, index) < index
    ]
    for row in evidence.tables["fire"]:
        key, cause = fire_key(row), row["non_dispatch_cause"]
        was_tried = row["first_dispatched_at"] is not None
        if cause == "cancelled" and key not in cancelled:
            problems.append(f"cancelled by nobody: {key}")
        if key in cancelled and not was_tried and cause != "cancelled":
            problems.append(f"cancelled, but {row['state']} ({cause}): {key}")
    return problems
