"""One trigger as its rows say it is, and the decision about it in the making."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scheduling.decision import DecidedGap, DecidedRow
from scheduling.rules import Rules, Span


class TriggerView(NamedTuple):
    """One trigger as its locked rows say it is.

    `pending_us` names the catch-up fire that a newer fire may absorb; the caller leaves it out
    once that fire has been attempted.
    """

    spans: Sequence[Span]
    versions: Mapping[int, Rules]
    cursor_us: int
    fired_count: int = 0
    pending_us: int | None = None


@dataclass(slots=True)
class Draft:
    view: TriggerView
    cursor_us: int
    rows: list[DecidedRow] = field(default_factory=list)
    gaps: list[DecidedGap] = field(default_factory=list)
    fired: int = 0
    pending_us: int | None = None

    def remaining(self, rules: Rules) -> int | None:
        if rules.max_fires is None:
            return None
        return max(0, rules.max_fires - self.view.fired_count - self.fired)

    def fire(self, row: DecidedRow) -> None:
        self.rows.append(row)
        self.fired += 1
        self.cursor_us = row.scheduled_us

    def cover(self, row: DecidedRow | None) -> None:
        if row is not None:
            self.rows.append(row)
            self.cursor_us = max(self.cursor_us, row.last_us)
