"""Retries stay within the budget, the window and, on time, the trigger's next due time."""

from collections import defaultdict

from scheduling.keys import FireKey
from tests.sim.evidence import Evidence, Row, fire_key

MAX_STEP_US = 120_000_000  # a claim or a result stamped by a stepped clock


def check(evidence: Evidence) -> list[str]:
    """By the attempts' rows."""
    tries: dict[FireKey, list[Row]] = defaultdict(list)
    for attempt in evidence.tables["attempt"]:
        tries[fire_key(attempt)].append(attempt)
    problems: list[str] = []
    for row in evidence.tables["fire"]:
        key = fire_key(row)
        made = tries[key]
        version = evidence.version((row["tenant_id"], row["trigger_id"]), row["version"])
        if [attempt["n"] for attempt in made] != list(range(1, len(made) + 1)):
            problems.append(f"attempts are not 1 to {len(made)}: {key}")
        if len(made) > version["attempt_budget"]:
            problems.append(f"{len(made)} tries, {version['attempt_budget']} allowed: {key}")
        window_from_us = row["due_at"] if row["lane"] == "on_time" else row["first_dispatched_at"]
        for attempt in made[1:]:
            late_us = attempt["dispatched_at"] - window_from_us
            if late_us > version["retry_window_s"] * 1_000_000 + MAX_STEP_US:
                problems.append(f"try {attempt['n']} is past the retry window: {key}")
            until_us = row["retry_until"]
            if (
                row["lane"] == "on_time"
                and until_us is not None
                and attempt["dispatched_at"] > until_us + MAX_STEP_US
            ):
                problems.append(f"try {attempt['n']} is past the next due time: {key}")
    return problems
