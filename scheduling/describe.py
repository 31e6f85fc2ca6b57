"""A recurrence in one English sentence."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache

from scheduling.day_set import day_set
from scheduling.describe_days import days_phrase
from scheduling.describe_times import duration_phrase, join_words, times_phrase
from scheduling.fields import parse_field
from scheduling.grammar import AtForm, CronForm, EveryForm, Form, read_expression
from scheduling.instants import EPOCH
from scheduling.months import date_of, day_number
from scheduling.recurrence import Recurrence
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import WallClock
from scheduling.wall_pattern import WallPattern
from scheduling.zones import tzdata_version

_GAP_PHRASES = {
    GapRule.SHIFT_FORWARD: "a time that the clock skips moves to the first instant after the gap",
    GapRule.SKIP: "a time that the clock skips is left out",
}
_FOLD_PHRASES = {
    FoldRule.FIRST: "a time that the clock repeats counts in its first pass only",
    FoldRule.LAST: "a time that the clock repeats counts in its last pass only",
    FoldRule.BOTH: "a time that the clock repeats counts in both passes",
}
_EXCLUSIONS_SHOWN = 3
# (second of the day, length in seconds) to the days on which the clock changes there.
_Nights = dict[tuple[int, int], list[int]]


def describe(recurrence: Recurrence) -> str:
    """Times, days, zone, then the gap and fold rule where they matter, window and exclusions."""
    texts = recurrence.expression
    members = (texts,) if isinstance(texts, str) else texts
    forms = [read_expression(text, recurrence.identity) for text in members]
    sentence = "; and ".join(_form_phrase(form) for form in forms)
    sentence += f", in {recurrence.zone}" if recurrence.zone != "UTC" else ", in UTC"
    for phrase in (
        *_odd_night_phrases(forms, recurrence),
        *_window_phrases(recurrence),
        *_exclusion_phrases(recurrence),
    ):
        sentence += "; " + phrase
    return sentence[0].upper() + sentence[1:] + "."


def _form_phrase(form: Form) -> str:
    if isinstance(form, AtForm):
        return f"once, on {_wall_text(form.wall)}"
    if isinstance(form, EveryForm):
        phrase = f"every {duration_phrase(form.period_s)} of elapsed time"
        if form.from_wall is not None:
            phrase += f", in step with {_wall_text(form.from_wall)}"
        return phrase
    times, daily = times_phrase(form)
    days = days_phrase(form)
    if not days:
        return f"{times} every day" if daily else times
    return f"{times} {days}"


def _wall_text(wall: int) -> str:
    day, second = divmod(wall, 86_400)
    time = f"{second // 3_600:02}:{second // 60 % 60:02}"
    return f"{date_of(day).isoformat()} at {time}" + (f":{second % 60:02}" if second % 60 else "")


def _odd_night_phrases(forms: Sequence[Form], recurrence: Recurrence) -> list[str]:
    skipped = repeated = False
    for form in forms:
        one_skipped, one_repeated = _meets_changes(form, recurrence)
        skipped, repeated = skipped or one_skipped, repeated or one_repeated
    phrases = [_GAP_PHRASES[recurrence.gap]] if skipped else []
    return [*phrases, _FOLD_PHRASES[recurrence.fold]] if repeated else phrases


def _meets_changes(form: Form, recurrence: Recurrence) -> tuple[bool, bool]:
    """Whether it has times among the skipped and the repeated ones, from the zone data's year on.

    Older changes are left out: nobody schedules into them.
    """
    clock = recurrence.clocks(recurrence.zone, GapRule.SKIP, FoldRule.BOTH)
    if isinstance(form, AtForm):
        found = clock.instants_of(form.wall)
        return not found, len(found) > 1
    if isinstance(form, EveryForm) or form.is_interval:
        return False, False
    pattern, skips, repeats = _pattern(form), *_changes(clock)
    return _meets(pattern, skips), _meets(pattern, repeats)


@lru_cache(maxsize=128)
def _changes(clock: WallClock) -> tuple[_Nights, _Nights]:
    """The skipped and the repeated wall seconds: most zones change at one hour all along."""
    first_s = day_number(datetime(int(tzdata_version()[:4]), 1, 1, tzinfo=UTC).date()) * 86_400
    skips: _Nights = {}
    repeats: _Nights = {}
    for segment in clock.uneven:
        if clock.starts[segment] >= first_s:
            before, after = clock.highs[segment - 1], clock.lows[segment]
            day, second = divmod(min(before, after), 86_400)
            nights = skips if before < after else repeats
            nights.setdefault((second, abs(after - before)), []).append(day)
    return skips, repeats


def _meets(pattern: WallPattern, nights: _Nights) -> bool:
    """The times of day are looked at first, and the days only where those meet."""
    any_day = WallPattern(pattern.seconds, pattern.minutes, pattern.hours, day_set("*", "*", "*"))
    return any(
        any_day.count(second, second + length) > 0
        and any(
            pattern.count(day * 86_400 + second, day * 86_400 + second + length) > 0 for day in days
        )
        for (second, length), days in nights.items()
    )


def _pattern(form: CronForm) -> WallPattern:
    return WallPattern(
        parse_field("second", form.second).bits,
        parse_field("minute", form.minute).bits,
        parse_field("hour", form.hour).bits,
        day_set(form.day_of_month, form.month, form.day_of_week),
    )


def _window_phrases(recurrence: Recurrence) -> list[str]:
    phrases = []
    if recurrence.starts_at is not None:
        phrases.append(f"from {_moment(recurrence.starts_at)} on")
    if recurrence.ends_at is not None:
        phrases.append(f"until {_moment(recurrence.ends_at)}, that instant included")
    return phrases


def _moment(moment: datetime) -> str:
    return (EPOCH + (moment - EPOCH)).isoformat().replace("+00:00", "Z")


def _exclusion_phrases(recurrence: Recurrence) -> list[str]:
    dates = recurrence.exclusions
    phrases = []
    if 0 < len(dates) <= _EXCLUSIONS_SHOWN:
        phrases.append("not on " + join_words([day.isoformat() for day in dates]))
    elif dates:
        phrases.append(f"not on {len(dates)} excluded dates {_range(dates)}")
    for calendar in recurrence.calendars:
        phrase = f"not on the dates of calendar {calendar.calendar_id}"
        count = len(calendar.dates)
        if count > 1:
            phrase += f" ({count} {_range(calendar.dates)})"
        else:
            phrase += f" ({calendar.dates[0].isoformat()})" if count else " (it has none)"
        phrases.append(phrase)
    return phrases


def _range(dates: Sequence[date]) -> str:
    return f"from {dates[0].isoformat()} to {dates[-1].isoformat()}"
