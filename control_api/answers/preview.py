"""What a schedule means, without a trigger: its next instants, odd nights, a second opinion. Pure.

The command line and the API show it alike. The instants are those of the compiled recurrence that
decides, and the second opinion is the one that a trigger has to pass.
"""

from datetime import timedelta
from typing import Final, NamedTuple

from control_api.answers.odd_nights import OddNight, odd_nights
from scheduling import InvalidRecurrence, Recurrence
from scheduling.probe import probe

PREVIEW_MAX: Final = 1_000
_AHEAD_US: Final = timedelta(days=600 * 366) // timedelta(microseconds=1)  # beyond the tables' end


class Opinion(NamedTuple):
    """What croniter says of the next three instants, and whether it agrees or need not."""

    text: str
    agrees: bool


class Preview(NamedTuple):
    """instants_us: later than `after_us`, at most PREVIEW_MAX"""

    recurrence: Recurrence
    after_us: int
    instants_us: list[int]
    nights: list[OddNight]
    opinion: Opinion


def preview_of(recurrence: Recurrence, after_us: int, *, count: int) -> Preview:
    """The first `count` instants after `after_us`, and the year's odd nights."""
    limit = min(count, PREVIEW_MAX)
    return Preview(
        recurrence,
        after_us,
        recurrence.between_us(after_us, after_us + _AHEAD_US, limit),
        odd_nights(recurrence, after_us),
        second_opinion(recurrence, after_us),
    )


def second_opinion(recurrence: Recurrence, after_us: int) -> Opinion:
    """Where it disagrees without a known reason, a trigger of this schedule is refused."""
    try:
        result = probe(recurrence.expression, recurrence.zone, recurrence, after_us)
    except InvalidRecurrence as error:
        return Opinion(error.reason, agrees=False)
    if result.theirs_us is None:
        return Opinion("croniter was not asked: it cannot read this form", agrees=True)
    count = len(result.ours_us)
    if result.explained_by:
        names = ", ".join(result.explained_by)
        return Opinion(f"croniter differs on the next {count}, as known: {names}", agrees=True)
    return Opinion(f"croniter agrees on the next {count}", agrees=True)
