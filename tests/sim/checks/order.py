"""First attempts of a trigger on one lane are claimed in the order of their instants.

Left out is what the documentation leaves open: a smeared fire that an edit kept may change places
with instants of the new version before its due time, and a fire that waits for its predecessor is
passed by fires of a later version that allows overlap. A run by hand passes what waits for its
predecessor too, and may be passed by newer instants that were decided before it went out. A fire
that was put back, because its dispatcher could not try it, has had its turn by its first claim.
"""

from collections import defaultdict

from ports.records import ClaimedFire
from scheduling.keys import FireKey
from scheduling.vocabulary import OverlapPolicy
from tests.sim.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """By the claims as the store served them."""
    claimed: dict[tuple[str, str, str], list[ClaimedFire]] = defaultdict(list)
    had_their_turn: set[FireKey] = set()
    problems: list[str] = []
    for call in evidence.calls:
        if call.name != "ledger.claim":
            continue
        for fire in call.result:
            if fire.n != 1 or fire.key in had_their_turn:
                continue
            had_their_turn.add(fire.key)
            before = claimed[(fire.key.tenant_id, fire.key.trigger_id, fire.lane)]
            problems += [
                f"{fire.lane} out of order: {fire.key} behind {other.key}"
                for other in before
                if _is_newer(other, fire) and not _may_pass(evidence, other, fire)
            ]
            before.append(fire)
    return problems


def _is_newer(fire: ClaimedFire, other: ClaimedFire) -> bool:
    return fire.key.scheduled_us > other.key.scheduled_us and fire.due_us > other.due_us


def _may_pass(evidence: Evidence, fire: ClaimedFire, other: ClaimedFire) -> bool:
    """Whether a fire may overtake another one that waits."""
    if other.key.sequence and not fire.key.sequence:
        return True
    key = (fire.key.tenant_id, fire.key.trigger_id)
    policy, others = (
        evidence.version(key, each.version)["overlap_policy"] for each in (fire, other)
    )
    passes = policy == OverlapPolicy.ALLOW or fire.key.sequence
    return bool(passes and others != OverlapPolicy.ALLOW)
