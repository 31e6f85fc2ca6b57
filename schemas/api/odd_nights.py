"""Nights on which a clock change touches a schedule, as the API tells them."""

from typing import Literal

from schemas.api.common import Instant, Out


class OddTimeOut(Out):
    """A local time of the schedule in the change; without instants it is left out that night."""

    local: str
    instants: list[Instant]


class OddNightOut(Out):
    """One local date, and what becomes of the schedule's times in the change.

    kind:   `gap`: the clock skips the range; `fold`: it repeats it
    times:  the first few of the schedule's times in it; `count` says how many there are
    text:   all of it for people
    """

    date: str
    kind: Literal["gap", "fold"]
    changes_at: Instant
    from_local: str
    to_local: str
    times: list[OddTimeOut]
    count: int
    text: str
