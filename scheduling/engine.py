"""What every kind of recurrence can answer, in whole epoch seconds."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from scheduling.instants import EPOCH, SECOND_US

DAY_S: Final = 86_400
Point = TypeVar("Point", int, datetime)


@dataclass(frozen=True, slots=True)
class TimeLine(Generic[Point]):
    """What an iteration yields: the point of a second is `origin + second * unit`.

    So a datetime costs one addition, and is never built from its parts.
    """

    origin: Point
    unit: Any

    def point(self, second: int) -> Point:
        """The point of an epoch second."""
        at: Point = self.origin + second * self.unit
        return at

    def second(self, point: Point) -> int:
        """The epoch second of a point."""
        return int((point - self.origin) // self.unit)


MICROSECONDS: Final = TimeLine(0, SECOND_US)
DATETIMES: Final = TimeLine(EPOCH, timedelta(seconds=1))


class Engine(ABC):
    """A strictly ascending set of epoch seconds; immutable, so safe to share between threads.

    Arguments lie from `zones.START_S` less one to `zones.END_S` less one (`before` may be END_S).
    Answers may lie outside the tables' years; the caller cuts them.
    """

    __slots__ = ()

    @abstractmethod
    def next_s(self, after: int) -> int | None:
        """The first instant later than `after`."""

    @abstractmethod
    def previous_s(self, before: int) -> int | None:
        """The last instant earlier than `before`."""

    @abstractmethod
    def count_s(self, after: int, through: int) -> int:
        """How many instants lie in (after, through], without expanding them."""

    @abstractmethod
    def iterate(self, after: int, line: TimeLine[Point]) -> Iterator[Point]:
        """Every instant later than `after`, ascending, as points of the line."""

    def has(self, second: int) -> bool:
        """Whether a second is one of the instants."""
        return self.next_s(second - 1) == second


class MemberEngine(Engine):
    """An engine that can stand in a union: it can say which days look alike."""

    __slots__ = ()

    @abstractmethod
    def day_key(self, start: int) -> object:
        """Two days with equal keys have equal `day_bits`; None where that cannot be told."""

    @abstractmethod
    def day_bits(self, start: int) -> int:
        """The instants of [start, start + 86400) as a bit set; `start` is a multiple of 86400."""
