"""Nothing waits for ever: after the calm no fire and no gap is left that could still move."""

from tests.sim.evidence import Evidence, fire_key, said

WAITS = {"held", "ready", "queued", "dispatching"}


def check(evidence: Evidence) -> list[str]:
    """What waits for its own due time, which lies ahead, may wait."""
    problems: list[str] = []
    for key, rows in evidence.rows("fire").items():
        problems += [
            f"still {row['state']} ({row['held_reason']}): {said(key, row['scheduled_instant'])}"
            for row in rows
            if row["state"] in WAITS and row["due_at"] <= evidence.now_us
        ]
    for key, gaps in evidence.rows("gap").items():
        problems += [f"gap never planned: {said(key, gap['after_instant'])}" for gap in gaps]
    states = {fire_key(row): row["state"] for row in evidence.tables["fire"]}
    for slot in evidence.tables["in_flight"]:
        state = states.get(fire_key(slot))
        if slot["run_until"] is None and state not in WAITS:
            problems.append(f"slot held for ever by a fire that is {state}: {fire_key(slot)}")
    return problems
