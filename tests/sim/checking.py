"""All checkers by name; each is a module of `tests/sim/checks` with one function, `check`."""

from collections.abc import Callable
from typing import Final

from tests.sim.checks import (
    calendars,
    cancels,
    coverage,
    decided_once,
    due_index,
    early,
    events,
    fire_cap,
    held_ends,
    manual_runs,
    order,
    overlap,
    receipts,
    requests,
    retries,
    silence,
    told,
    tries,
)
from tests.sim.evidence import Evidence

CHECKS: Final[dict[str, Callable[[Evidence], list[str]]]] = {
    "calendars": calendars.check,
    "cancels": cancels.check,
    "coverage": coverage.check,
    "decided_once": decided_once.check,
    "due_index": due_index.check,
    "early": early.check,
    "events": events.check,
    "fire_cap": fire_cap.check,
    "held_ends": held_ends.check,
    "manual_runs": manual_runs.check,
    "order": order.check,
    "overlap": overlap.check,
    "receipts": receipts.check,
    "requests": requests.check,
    "retries": retries.check,
    "silence": silence.check,
    "told": told.check,
    "tries": tries.check,
}


def problems(evidence: Evidence) -> list[str]:
    """What every checker found, with its name in front."""
    return [f"{name}: {text}" for name, check in CHECKS.items() for text in check(evidence)]
