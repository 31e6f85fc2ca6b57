"""A manual run that was accepted is one fire of its own, and goes out unless somebody stops it."""

from collections import defaultdict

from ports.changes import RunTrigger
from scheduling.keys import FireKey
from tests.sim.evidence import Evidence, effects, fire_key

STOPPED_BY = {"cancelled", "deleted"}


def check(evidence: Evidence) -> list[str]:
    """By the acceptances as the registry served them, and the ledger."""
    accepted = {
        effect.result.fire_key: effect.change
        for effect in effects(evidence)
        if isinstance(effect.change, RunTrigger)
    }
    rows = {
        fire_key(row): row
        for row in evidence.tables["fire"]
        if row["sequence"] or row["origin"] == "manual"
    }
    problems = [f"accepted and lost: {key}" for key in accepted if key not in rows]
    sequences: dict[str, list[int]] = defaultdict(list)
    for key, row in rows.items():
        sequences[key.tenant_id].append(key.sequence)
        cause = row["non_dispatch_cause"]
        if key not in accepted:
            problems.append(f"nobody asked for it: {key}")
        if (row["origin"], row["lane"], row["instant_count"]) != ("manual", "on_time", 1):
            problems.append(f"not a run of its own: {key}")
        if cause is not None and cause not in STOPPED_BY:
            problems.append(f"not dispatched because of {cause}: {key}")
        if cause is None and row["first_dispatched_at"] is None:
            problems.append(f"never tried, and nobody stopped it: {key}")
    for tenant in evidence.tables["tenant"]:
        found = sorted(sequences[tenant["tenant_id"]])
        if found != list(range(1, tenant["next_sequence"])):
            problems.append(f"sequences of {tenant['tenant_id']} are {found}"[:400])
    return problems + _displaced(evidence)


def _displaced(evidence: Evidence) -> list[str]:
    """Instants that went out in another's place went in one of the schedule's."""
    schedule: set[FireKey] = {
        fire_key(row) for row in evidence.tables["fire"] if not row["sequence"]
    }
    return [
        f"coalesced into no instant of the schedule: {key}"
        for row in evidence.tables["fire"]
        if row["coalesced_into"] is not None
        and (key := fire_key(row))._replace(scheduled_us=row["coalesced_into"]) not in schedule
    ]
