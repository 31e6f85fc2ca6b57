"""Seeded worlds: every promise of docs/semantics.md holds whatever happens between two calls.

`PUNCTUAL_SIM_SEEDS=17` or `=1000-1999` chooses the seeds.
"""

import os
import re
from pathlib import Path

import pytest

from tests.sim.checking import problems
from tests.sim.playing import played, replay

SEEDS_CI = 200
SEEDS_QUICK = 40
# What has to turn up in the log of some world, by a part of its line.
RARE = {
    "a process dies between two calls": "crashes",
    "a call fails after its effect": "after",
    "a decision is fenced": "fenced=True",
    "a clock is wrong": "clock off by",
    "a gap is planned": "repair.plan_gaps -> 1",
    "catch-up is released": "repair.release -> [Lane",
    "a change meets a refusal": "-> 409",
    "a try is ambiguous": "status=None",
    "the API dies": "api: dies",
    "a request is repeated after its effect": "replayed=True",
    "a change is stale": "-> 412",
    "a change does not say what it replaces": "-> 428",
    "a change meets a bad clock": "clock: it was set",
    "a run meets a taken slot": "is running or has its turn",
    "a cancel comes too late": "only a fire that waits",
    "a try cannot be made": "tried=False",
    "a relay is outrun": "events.publish_reading -> None",
    "an apply prunes": "prune=True -> 200 done: [<ChangeKind.DELETED",
    "an apply finds all as it says": "-> 200 nothing to do",
    "a quota is reached": "quota_triggers: ",
    "a calendar is in use": "is used by the trigger",
}
# What people ask for, by its first words in the log; each has to be done in some world.
ASKED = (
    "apply", "calendar", "cancel", "delete", "horizon", "no calendar", "pause", "put", "quota",
    "resume", "run", "set quota", "target", "tenant",
)  # fmt: skip
FOLLOWED = "a trigger follows its calendar"
DONE = re.compile(rf"person: request \d+ ({'|'.join(ASKED)})\b.* -> 20\d ")
ENDS = {
    "succeeded", "failed", "refused", "unknown", "undelivered", "coalesced", "overlap", "paused",
    "deleted", "skipped_by_policy", "expired_past_horizon", "cancelled",
}  # fmt: skip


def seeds() -> range:
    """The chosen seeds; by default as many as the place has time for."""
    chosen = os.environ.get("PUNCTUAL_SIM_SEEDS")
    if chosen is not None:
        first, _, last = chosen.partition("-")
        return range(int(first), int(last or first) + 1)
    return range(SEEDS_CI if os.environ.get("CI") == "true" else SEEDS_QUICK)


@pytest.mark.parametrize("seed", seeds())
def test_simulation_any_seed_keeps_every_promise(seed: int, world_folder: Path) -> None:
    with played(seed, world_folder) as (_, evidence):
        found = problems(evidence)
        assert found == [], f"{len(found)} broken promises; play it again: {replay(seed)}"


def test_simulation_same_seed_gives_the_same_history(tmp_path: Path) -> None:
    logs = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        with played(7, folder) as (world, _):
            logs.append(world.log)
    assert logs[0] == logs[1]


def test_simulation_worlds_meet_what_they_are_there_for(tmp_path: Path) -> None:
    """A simulation in which nothing rare happens would prove nothing."""
    met: set[str] = set()
    for seed in range(28):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with played(seed, folder) as (world, evidence):
            met |= {name for name in RARE if any(RARE[name] in line for line in world.log)}
            met |= {found[1] for line in world.log if (found := DONE.search(line))}
            notes = [row["note"] or "" for row in evidence.tables["audit_entry"]]
            met |= {FOLLOWED for note in notes if note.startswith("calendar ")}
            met |= {row["non_dispatch_cause"] or row["state"] for row in evidence.tables["fire"]}
    assert {*RARE, *ASKED, *ENDS, FOLLOWED} - met == set()
