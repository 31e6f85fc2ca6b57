"""Nothing is decided twice: live rows and gaps are disjoint, and no attempt goes out twice."""

from collections import Counter
from itertools import pairwise

from tests.sim.evidence import Evidence, said


def check(evidence: Evidence) -> list[str]:
    """By the ledger alone, then by what the targets received."""
    problems: list[str] = []
    gaps = evidence.rows("gap")
    for key, rows in evidence.rows("fire").items():
        spans = [
            (row["scheduled_instant"], row["through_instant"] or row["scheduled_instant"])
            for row in rows
            if row["sequence"] == 0
        ]
        spans += [(gap["planned_through"] + 1, gap["through_instant"]) for gap in gaps[key]]
        spans.sort()
        for (_, last_us), (first_us, _) in pairwise(spans):
            if first_us <= last_us:
                problems.append(f"decided twice: {said(key, first_us)}")
    sent = Counter((receipt.fire.key, receipt.fire.n) for receipt in evidence.receipts)
    problems += [f"attempt {n} of {key} went out twice" for (key, n), c in sent.items() if c > 1]
    return problems
