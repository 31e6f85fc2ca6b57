"""cronsim beside the compiler where the clock stands still: equal, but for what is named here.

On the odd nights cronsim follows another rule (its own fix-ups, none with seconds), so zones whose
clock moves are left to croniter's probe and to the oracle.
"""

import random
import re
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.zones import zone_info
from tests.support.expressions import STILL_ZONES, random_expression

# cronsim refuses these: wraps, L-n, nW, a question mark, dL after a weekday's name, a list of L.
REFUSED = re.compile(r"L-|W|\?|[A-Z]L")
# `a-a/n` is `a/n` there, and a weekday step runs on to a second Sunday, the 7.
SINGLE_STEP = re.compile(r"(?:^|[ ,])(\d+)-\1/")


def _wraps(expression: str) -> bool:
    names = {"SAT-MON", "NOV-FEB"}
    ranges = re.findall(r"(\d+)-(\d+)", expression)
    return any(int(a) > int(b) for a, b in ranges) or any(name in expression for name in names)


def _is_known(expression: str, refused: bool) -> bool:
    if refused:
        return _wraps(expression) or bool(REFUSED.search(expression))
    weekdays = expression.split()[-1]
    steps = bool(re.search(r"\d/", weekdays)) or "-7" in weekdays
    return bool(SINGLE_STEP.search(expression)) or steps


def test_cronsim_differs_from_random_expressions_only_as_known() -> None:
    chance = random.Random(20260602)
    agreed = 0
    for _ in range(2_000):
        case = random_expression(chance)
        if case.zone not in STILL_ZONES:
            continue
        try:
            recurrence = compile_recurrence(case.expression, case.zone)
        except InvalidRecurrence:
            continue
        ours = recurrence.between(case.after, datetime(2060, 1, 1, tzinfo=UTC), 3)
        if len(ours) < 3:
            continue
        theirs = _cronsim(case.expression, case.after.astimezone(zone_info(case.zone)))
        if theirs == ours:
            agreed += 1
        else:
            assert _is_known(case.expression, theirs is None), (case, ours, theirs)
    assert agreed > 250


def _cronsim(expression: str, after: datetime) -> list[datetime] | None:
    try:
        search = CronSim(expression, after)
        return [next(search).astimezone(UTC) for _ in range(3)]
    except CronSimError:
        return None
