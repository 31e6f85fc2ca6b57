"""One trigger as its rows say it is, and the decision about it in the making."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scheduling.decision import DecidedGap, DecidedRow
from scheduling.rules import Rules, Segment, Span, Undecided, first_in
from scheduling.vocabulary import SpanKind


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


class Coalescing(NamedTuple):
    """A run of missed instants, (after, through], that asks for one fire between them.

    `row_index` is its range row, still without a target; `now_us` is what they are judged by.
    """

    row_index: int
    rules: Rules
    after_us: int
    through_us: int
    now_us: int


@dataclass(slots=True)
class Draft:
    """The rows and gaps so far.

    `dispatched_us` is the newest instant that this decision dispatches, which is what every
    run of `coalescing` goes into; where there is none, the newest of them fires in the end.
    """

    view: TriggerView
    cursor_us: int
    rows: list[DecidedRow] = field(default_factory=list)
    gaps: list[DecidedGap] = field(default_factory=list)
    coalescing: list[Coalescing] = field(default_factory=list)
    fired: int = 0
    dispatched_us: int | None = None
    pending_us: int | None = None

    def remaining(self, rules: Rules) -> int | None:
        """How many fires `max_fires` still allows; None = no bound."""
        if rules.max_fires is None:
            return None
        return max(0, rules.max_fires - self.view.fired_count - self.fired)

    def first_ahead(self, segment: Segment, *, reserved: int = 0) -> Undecided | None:
        """The first instant of a live segment that this draft has not decided."""
        if segment.span.kind is not SpanKind.LIVE:
            return None
        rest = segment._replace(after_us=max(segment.after_us, self.cursor_us))
        if rest.through_us is not None and rest.through_us <= rest.after_us:
            return None
        fired_count = self.view.fired_count + self.fired + reserved
        return first_in(rest, self.view.versions, fired_count=fired_count)

    def owes_a_fire(self) -> bool:
        """Whether missed instants wait for a fire that nothing has dispatched yet."""
        return bool(self.coalescing) and self.dispatched_us is None

    def dispatch(self, row: DecidedRow) -> None:
        self.rows.append(row)
        self.fired += 1
        self.dispatched_us = self.cursor_us = row.scheduled_us

    def plan(self, gap: DecidedGap) -> None:
        self.gaps.append(gap)
        self.fired += gap.instant_count
        self.dispatched_us = self.cursor_us = gap.through_us

    def cover(self, row: DecidedRow | None) -> None:
        if row is not None:
            self.rows.append(row)
            self.cursor_us = max(self.cursor_us, row.last_us)

    def copy(self) -> "Draft":
        return replace(self, rows=[*self.rows], gaps=[*self.gaps], coalescing=[*self.coalescing])
