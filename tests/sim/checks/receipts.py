"""What targets received is in the ledger, and what the ledger calls accepted was received."""

from collections import defaultdict

from scheduling.keys import FireKey
from tests.sim.evidence import Evidence, fire_key


def check(evidence: Evidence) -> list[str]:
    """Both ways, by fire key and attempt number."""
    fires = {fire_key(row): row for row in evidence.tables["fire"]}
    attempts = {(fire_key(row), row["n"]): row for row in evidence.tables["attempt"]}
    answers: dict[FireKey, list[bool]] = defaultdict(list)
    problems: list[str] = []
    for receipt in evidence.receipts:
        key = receipt.fire.key
        answers[key].append(receipt.answer.runs)
        row = fires.get(key)
        if row is None:
            problems.append(f"received but not committed: {key}")
        elif (key, receipt.fire.n) not in attempts:
            problems.append(f"received without a claim: {key} attempt {receipt.fire.n}")
        elif row["version"] != receipt.fire.version or row["due_at"] != receipt.fire.due_us:
            problems.append(f"received another fire than was committed: {key}")
    for key, row in fires.items():
        if row["state"] in ("accepted", "succeeded", "failed") and not any(answers[key]):
            problems.append(f"{row['state']} but no run was ever started: {key}")
        if row["state"] == "not_dispatched" and answers[key]:
            problems.append(f"not_dispatched but received: {key}")
    received = {(receipt.fire.key, receipt.fire.n) for receipt in evidence.receipts}
    problems += [
        f"answered {row['http_status']} but never received: {key} attempt {n}"
        for (key, n), row in attempts.items()
        if row["http_status"] is not None and (key, n) not in received
    ]
    return problems
