"""Never early: no request reaches a target before its fire's due time, by the true clock."""

from tests.sim.evidence import Evidence, said


def check(evidence: Evidence) -> list[str]:
    """Deliveries by the true clock, and the due time by the oracle's smear for live rows."""
    problems = [
        f"early by {receipt.fire.due_us - receipt.at_us} us: {receipt.fire.key}"
        for receipt in evidence.receipts
        if receipt.at_us < max(receipt.fire.due_us, receipt.fire.key.scheduled_us)
    ]
    for key, rows in evidence.rows("fire").items():
        for row in rows:
            due_us = evidence.due_us(key, row["version"], row["scheduled_instant"])
            if row["instant_count"] and row["sequence"] == 0 and row["due_at"] != due_us:
                problems.append(f"due at the wrong time: {said(key, row['scheduled_instant'])}")
    return problems
