"""Why a trigger fired or did not, as the API tells it."""

from typing import Literal

from schemas.api.common import Instant, Out
from schemas.api.fires import AttemptOut, FireOut

About = Literal[
    "asked",  # the instant asked about
    "first_pass",  # of a local time that comes twice
    "second_pass",
    "after_gap",  # the first instant after a local time that the clock skips
    "newest",  # the newest fire
    "next",  # the next instant
    "now",  # of a trigger that has neither
]
Kind = Literal[
    "fired",  # sent, and the target took it
    "endpoint",  # sent, and the target refused it, failed, or left it open
    "not_dispatched",  # we decided not to
    "waiting",  # decided, not sent yet
    "undecided",  # due, or due later, and not decided
    "not_due",  # no instant of the schedule
]


class WhyAnswer(Out):
    """One sentence about one instant; the fire and its attempts stand behind it."""

    about: About
    answer: Kind
    sentence: str
    trigger: str
    instant: Instant | None
    instant_local: str | None
    fire: FireOut | None
    attempts: list[AttemptOut]


class WhyOut(Out):
    """Two answers for a local time that comes twice, and without an instant: newest and next."""

    tenant: str
    trigger: str
    trigger_id: str
    zone: str
    answers: list[WhyAnswer]
