"""A cron expression on the endless line of wall seconds, before any zone.

A wall second is `day number * 86400 + second of the day`. Times of day are three bit sets, so
finding a neighbour is a shift and counting is a population count.
"""

from collections.abc import Iterator

from scheduling.day_set import DaySet, bit_values


class WallPattern:
    """Immutable; `hours`, `minutes`, `seconds` are bit sets, `days` is shared."""

    __slots__ = ("_first", "_last", "_per_day", "days", "hours", "minutes", "seconds")

    def __init__(self, seconds: int, minutes: int, hours: int, days: DaySet) -> None:
        self.seconds = seconds
        self.minutes = minutes
        self.hours = hours
        self.days = days
        self._first = _low(hours) * 3_600 + _low(minutes) * 60 + _low(seconds)
        self._last = _high(hours) * 3_600 + _high(minutes) * 60 + _high(seconds)
        self._per_day = hours.bit_count() * minutes.bit_count() * seconds.bit_count()

    def next_from(self, wall: int) -> int | None:
        """The first matching wall second from `wall` on."""
        day, second = divmod(wall, 86_400)
        if second <= self._last and self.days.has(day):
            return day * 86_400 + self._time_from(second)
        found = self.days.next_day(day + 1)
        return None if found is None else found * 86_400 + self._first

    def previous_to(self, wall: int) -> int | None:
        """The last matching wall second up to `wall`."""
        day, second = divmod(wall, 86_400)
        if second >= self._first and self.days.has(day):
            return day * 86_400 + self._time_to(second)
        found = self.days.previous_day(day - 1)
        return None if found is None else found * 86_400 + self._last

    def count(self, low: int, high: int) -> int:
        """How many wall seconds of [low, high) match."""
        if low >= high:
            return 0
        first_day, first_second = divmod(low, 86_400)
        last_day, last_second = divmod(high, 86_400)
        total = 0
        if self.days.has(first_day):
            total -= self._times_before(first_second)
            total += self._per_day if last_day > first_day else 0
        if self.days.has(last_day):
            total += self._times_before(last_second)
        if last_day > first_day + 1:
            total += self.days.count(first_day + 1, last_day) * self._per_day
        return total

    def has(self, wall: int) -> bool:
        """Whether a wall second matches."""
        day, second = divmod(wall, 86_400)
        hour, minute, second = second // 3_600, second // 60 % 60, second % 60
        return bool(
            self.hours >> hour & self.minutes >> minute & self.seconds >> second & 1
        ) and self.days.has(day)

    def expand(self, low: int, high: int) -> Iterator[int]:
        """The matching wall seconds of [low, high); whole hours and minutes are not compared."""
        hours = [hour * 3_600 for hour in bit_values(self.hours)]
        minutes = [minute * 60 for minute in bit_values(self.minutes)]
        seconds = bit_values(self.seconds)
        for day in self.days.days_from(low // 86_400):
            if day * 86_400 >= high:
                return
            for hour in hours:
                hour += day * 86_400
                if hour + 3_600 <= low:
                    continue
                if hour >= high:
                    return
                whole = low <= hour and hour + 3_600 <= high
                for minute in minutes:
                    minute += hour
                    if whole or (low <= minute and minute + 60 <= high):
                        for second in seconds:
                            yield minute + second
                    else:
                        for second in seconds:
                            if low <= minute + second < high:
                                yield minute + second

    def day_bits(self) -> int:
        """The times of a matching day as a bit set of 86400 bits."""
        minute = sum(self.seconds << 60 * at for at in bit_values(self.minutes))
        return sum(minute << 3_600 * at for at in bit_values(self.hours))

    def _time_from(self, time: int) -> int:
        """The first time of day from `time` on; there is one."""
        hour, rest = divmod(time, 3_600)
        if self.hours >> hour & 1:
            minute, second = divmod(rest, 60)
            if self.minutes >> minute & 1 and (ahead := self.seconds >> second):
                return time + _low(ahead)
            if ahead := self.minutes >> (minute + 1):
                minute += 1 + _low(ahead)
                return hour * 3_600 + minute * 60 + _low(self.seconds)
        hour += 1 + _low(self.hours >> (hour + 1))
        return hour * 3_600 + _low(self.minutes) * 60 + _low(self.seconds)

    def _time_to(self, time: int) -> int:
        """The last time of day up to `time`; there is one."""
        hour, rest = divmod(time, 3_600)
        if self.hours >> hour & 1:
            minute, second = divmod(rest, 60)
            if self.minutes >> minute & 1 and (behind := _below(self.seconds, second + 1)):
                return hour * 3_600 + minute * 60 + _high(behind)
            if behind := _below(self.minutes, minute):
                return hour * 3_600 + _high(behind) * 60 + _high(self.seconds)
        hour = _high(_below(self.hours, hour))
        return hour * 3_600 + _high(self.minutes) * 60 + _high(self.seconds)

    def _times_before(self, time: int) -> int:
        """How many times of day lie before `time`."""
        hour, rest = divmod(time, 3_600)
        minute, second = divmod(rest, 60)
        per_minute = self.seconds.bit_count()
        total = _below(self.hours, hour).bit_count() * self.minutes.bit_count() * per_minute
        if self.hours >> hour & 1:
            total += _below(self.minutes, minute).bit_count() * per_minute
            if self.minutes >> minute & 1:
                total += _below(self.seconds, second).bit_count()
        return total


def _low(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _high(bits: int) -> int:
    return bits.bit_length() - 1


def _below(bits: int, end: int) -> int:
    return bits & ((1 << end) - 1)
