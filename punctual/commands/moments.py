"""Times of the API's answers in tables: the header says whose clock it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from control_api.answers.zone_times import local_text, offset_text, wall_text
from scheduling.instants import from_text


@dataclass(frozen=True, slots=True)
class TableClock:
    """The clock of a table's times: that of the one zone of its rows, or of each row's own."""

    zone: str | None

    def title(self, what: str) -> str:
        """`scheduled (Europe/Berlin)`; a column `zone` tells where rows have their own."""
        return f"{what} ({self.zone or 'own zone'})"

    def text(self, zone: str, instant_us: int) -> str:
        """With its offset, and its zone too, where the header does not say them."""
        if zone == self.zone:
            return wall_text(zone, instant_us)
        if self.zone is None:
            return f"{wall_text(zone, instant_us)} {offset_text(zone, instant_us)}"
        return f"{local_text(zone, instant_us)} {zone}"


def clock_of(zones: Iterable[str]) -> TableClock:
    """The clock of a table whose rows are in these zones."""
    known = set(zones)
    return TableClock(known.pop() if len(known) == 1 else None)


def us_of(instant: Any) -> int | None:
    """An instant of the API in microseconds."""
    return None if instant is None else from_text(instant)
