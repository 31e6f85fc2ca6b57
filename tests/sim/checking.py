"""All checkers by name; each is a module of `tests/sim/checks` with one function, `check`."""

from collections.abc import Callable
from typing import Final

from tests.sim.checks import (
    coverage,
    decided_once,
    due_index,
    early,
    fire_cap,
    held_ends,
    order,
    overlap,
    receipts,
    retries,
    silence,
)
from tests.sim.evidence import Evidence

CHECKS: Final[dict[str, Callable[[Evidence], list[str]]]] = {
    "coverage": coverage.check,
    "decided_once": decided_once.check,
    "due_index": due_index.check,
    "early": early.check,
    "fire_cap": fire_cap.check,
    "held_ends": held_ends.check,
    "order": order.check,
    "overlap": overlap.check,
    "receipts": receipts.check,
    "retries": retries.check,
    "silence": silence.check,
}


def problems(evidence: Evidence) -> list[str]:
    """What every checker found, with its name in front."""
    return [f"{name}: {text}" for name, check in CHECKS.items() for text in check(evidence)]
