"""The days of a cron expression, in words."""

from scheduling.day_set import bit_values
from scheduling.describe_times import join_words, ranges_phrase
from scheduling.fields import DAY_OF_MONTH, MONTH, FieldSet, Special, parse_field
from scheduling.grammar import CronForm

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NTH = ("", "first", "second", "third", "fourth", "fifth")
_WHOLE_WEEK = 0x7F


def days_phrase(form: CronForm) -> str:
    """Empty where every day is allowed."""
    month_days = parse_field("day_of_month", form.day_of_month)
    weekdays = parse_field("day_of_week", form.day_of_week)
    months = parse_field("month", form.month)
    by_month = "" if month_days.bits == DAY_OF_MONTH.range_bits() else _month_days(month_days)
    by_week = "" if weekdays.bits == _WHOLE_WEEK else _weekdays(weekdays)
    both = month_days.starred or weekdays.starred
    if by_month and by_week:
        phrase = (
            f"{by_month} where it is also {by_week}" if both else f"{by_month}, or on {by_week}"
        )
    elif both:
        phrase = by_month or by_week
    else:
        phrase = ""  # one field allows every day, and either is enough
    words = ["on " + phrase] if phrase else []
    if months.bits != MONTH.range_bits():
        values = bit_values(months.bits)
        names = [_MONTHS[value - 1] for value in values]
        words.append(("" if words else "every day ") + "in " + ranges_phrase(names, values))
    return " ".join(words)


def _month_days(days: FieldSet) -> str:
    values = bit_values(days.bits)
    words = [f"day{'s' if len(values) > 1 else ''} {ranges_phrase([*map(str, values)], values)}"]
    specials = [_month_day(special) for special in days.specials]
    return join_words([*(words if values else []), *specials]) + " of the month"


def _month_day(special: Special) -> str:
    if special.kind == "last_workday":
        return "the last workday"
    if special.kind == "workday":
        return f"the workday nearest to day {special.n}"
    if special.n == 0:
        return "the last day"
    return f"{'the day' if special.n == 1 else f'{special.n} days'} before the last day"


def _weekdays(days: FieldSet) -> str:
    bits = days.bits
    # Monday first reads better, unless the range runs on into the week's other end.
    values = [value for value in bit_values(bits << 7 | bits) if 1 <= value <= 7]
    words = [ranges_phrase([_WEEKDAYS[value % 7] for value in values], values)] if values else []
    for special in days.specials:
        nth = "last" if special.kind == "last_of" else _NTH[special.n]
        words.append(f"the {nth} {_WEEKDAYS[special.weekday]} of the month")
    return join_words(words)
