"""First attempts of a trigger on one lane are claimed in the order of their due times.

Left out is what the documentation leaves open: a fire that waits for its predecessor is passed by
fires of a later version that allows overlap.
"""

from collections import defaultdict

from scheduling.vocabulary import OverlapPolicy
from tests.sim.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """By the claims as the store served them."""
    newest: dict[tuple[str, str, str], int] = defaultdict(int)
    newest_waiting: dict[tuple[str, str, str], int] = defaultdict(int)
    problems: list[str] = []
    for call in evidence.calls:
        if call.name != "ledger.claim":
            continue
        for fire in call.result:
            if fire.n != 1:
                continue
            key = (fire.key.tenant_id, fire.key.trigger_id)
            policy = evidence.version(key, fire.version)["overlap_policy"]
            allows = policy == OverlapPolicy.ALLOW
            lane = (*key, fire.lane)
            if fire.due_us < (newest if allows else newest_waiting)[lane]:
                problems.append(f"{fire.lane} out of order: {fire.key}")
            newest[lane] = max(newest[lane], fire.due_us)
            if not allows:
                newest_waiting[lane] = max(newest_waiting[lane], fire.due_us)
    return problems
