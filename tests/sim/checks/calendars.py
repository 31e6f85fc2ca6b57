"""A trigger follows its calendars: what is there now is what its version was made of."""

import json

from tests.sim.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """By the current version of every trigger that is not deleted."""
    current = {
        (row["tenant_id"], row["calendar_id"]): row["revision"]
        for row in evidence.tables["calendar"]
    }
    problems: list[str] = []
    for trigger in evidence.tables["trigger"]:
        if trigger["state"] == "deleted":
            continue
        key = (trigger["tenant_id"], trigger["trigger_id"])
        version = evidence.version(key, trigger["current_version"])
        for name, revision in json.loads(version["calendars"]):
            now = current.get((key[0], name))
            if revision != now:
                problems.append(
                    f"{key[0]}/{trigger['name']} has revision {revision} of {name}, which is {now}"
                )
    return problems
