"""`max_fires` is kept: no more live fires than the widest cap that the trigger ever had.

And what the due index counts towards it is the schedule's fires alone, not the runs by hand.
"""

from tests.sim.evidence import Evidence


def check(evidence: Evidence) -> list[str]:
    """Counts sequence-0 fires that were dispatched or still may be, gaps' remainders included."""
    problems: list[str] = []
    fires, gaps = evidence.rows("fire"), evidence.rows("gap")
    for key, versions in evidence.rows("trigger_version").items():
        caps = [version["max_fires"] for version in versions]
        count = sum(row["sequence"] == 0 and row["state"] != "not_dispatched" for row in fires[key])
        count += sum(gap["instant_count"] - gap["planned_count"] for gap in gaps[key])
        problems += [
            f"{row['fired_count']} counted where {count} were: {key[0]}/{key[1]}"
            for row in evidence.rows("due_index_row")[key]
            if row["fired_count"] != count
        ]
        if None not in caps and count > max(caps):
            problems.append(f"{count} fires where {max(caps)} are allowed: {key[0]}/{key[1]}")
    return problems
