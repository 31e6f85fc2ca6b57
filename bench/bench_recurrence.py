"""How fast recurrences are read, stepped, listed, counted and refused, beside croniter and cronsim.

All three take turns in one process, and every figure is the median of the rounds. An iteration
cell is one expression in one zone: as many instants by each, from the same start.
croniter gives floats and ours integers, each its cheapest form; cronsim has datetimes only.
"""

import random
import tracemalloc
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import islice, product
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from bench.report import Figure, Report, bench_parser, deliver, middle
from scheduling import InvalidRecurrence, Recurrence, compile_recurrence
from scheduling.instants import to_us

ZONES: Final = ("UTC", "Europe/London", "America/New_York", "Australia/Lord_Howe")
EXPRESSIONS: Final = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "*/10 * * * * *",
    "0,30 8-18 * * MON-FRI",
    "0 9 * * MON-FRI",
    "30 2 * * *",
    "15 10 1,15 * *",
    "0 0 L * *",
    "0 0 * * MON#1",
    "0 0 13 * FRI",
    "0 12 1 1 *",
    "0 0 31 1,3,5 *",
    "0 0 29 2 *",
)
SPARSE: Final = frozenset({"0 12 1 1 *", "0 0 29 2 *"})
START: Final = datetime(2026, 3, 1, 4, 17, 23)  # noqa: DTZ001 - each zone is put to it
REFUSED: Final = (
    "61 * * * *",
    "* * 30 2 *",
    "1-2-3 * * * *",
    "* * * * MON#6",
    "every 0m",
    "@reboot",
    "\u0665 * * * *",
    ",".join(["1"] * 120) + " * * * *",
    "9" * 1_000_000 + " * * * *",
    "*" * 4_000_000,
    "1,2,3,4,5,6,7,8,9," * 13 + "x * * * *",
)


class Sizes(NamedTuple):
    rounds: int
    instants: int
    sparse_instants: int
    expressions: int
    objects: int


FULL: Final = Sizes(rounds=7, instants=400, sparse_instants=12, expressions=2_000, objects=100_000)
QUICK: Final = Sizes(rounds=3, instants=100, sparse_instants=6, expressions=400, objects=5_000)


def main() -> None:
    options = bench_parser(__doc__).parse_args()
    sizes = QUICK if options.quick else FULL
    report = Report("recurrence", "Recurrences", is_quick=options.quick)
    report.settings["cells"] = f"{len(EXPRESSIONS)} expressions in {len(ZONES)} zones"
    report.settings["rounds"] = str(sizes.rounds)
    _iteration(sizes, report)
    _single_steps(sizes, report)
    _reading(sizes, report)
    _windows(sizes, report)
    _refusals(sizes, report)
    _memory(sizes, report)
    deliver(report, options.json)


def _iteration(sizes: Sizes, report: Report) -> None:
    """Microseconds an instant of each cell, then the ratios over all cells."""
    over_croniter, over_cronsim, steps = [], [], []
    for expression, zone in product(EXPRESSIONS, ZONES):
        amount = sizes.sparse_instants if expression in SPARSE else sizes.instants
        start = START.replace(tzinfo=ZoneInfo(zone))
        recurrence = compile_recurrence(expression, zone)
        rounds = [
            (
                _per_item(amount, 10, _iterate, recurrence, to_us(start), amount),
                _per_item(amount, 1, _step, recurrence, to_us(start), amount),
                _per_item(amount, 1, _croniter, expression, start, amount),
                _per_item(amount, 1, _cronsim, expression, start, amount),
            )
            for _ in range(sizes.rounds)
        ]
        ours, step, theirs, simulated = (median(column) for column in zip(*rounds, strict=True))
        over_croniter.append(theirs / ours)
        over_cronsim.append(simulated / ours)
        steps.append(theirs / step)
        cell = f"{expression}, {zone}"
        report.figures.append(Figure(f"iterate {cell}", ours, "µs"))
        report.figures.append(Figure(f"iterate {cell}, croniter", theirs, "µs"))
        report.figures.append(Figure(f"iterate {cell}, cronsim", simulated, "µs"))
    _ratios(report, "iterate, faster than croniter", over_croniter, (50, 20))
    _ratios(report, "iterate, faster than cronsim", over_cronsim, (15, 6))
    report.figures.append(middle("next_after_us step by step, faster than croniter", steps, "x"))


def _ratios(
    report: Report, name: str, ratios: Sequence[float], bounds: tuple[float, float]
) -> None:
    report.figures.append(middle(f"{name}, middle cell", ratios, "x").claimed(">=", bounds[0]))
    report.figures.append(Figure(f"{name}, worst cell", min(ratios), "x").claimed(">=", bounds[1]))


def _iterate(recurrence: Recurrence, after_us: int, amount: int) -> None:
    for _ in islice(recurrence.iterate_us(after_us), amount):
        pass


def _step(recurrence: Recurrence, after_us: int, amount: int) -> None:
    instant: int | None = after_us
    for _ in range(amount):
        assert instant is not None
        instant = recurrence.next_after_us(instant)


def _croniter(expression: str, start: datetime, amount: int) -> None:
    iterator = croniter(_seconds_last(expression), start)
    for _ in range(amount):
        iterator.get_next(float)


def _cronsim(expression: str, start: datetime, amount: int) -> None:
    iterator = CronSim(expression, start)
    for _ in range(amount):
        next(iterator)


def _seconds_last(expression: str) -> str:
    parts = expression.split()
    return " ".join(parts if len(parts) == 5 else [*parts[1:], parts[0]])


def _per_item(items: int, times: int, work: Callable[..., object], *arguments: object) -> float:
    """Microseconds an item."""
    started = perf_counter()
    for _ in range(times):
        work(*arguments)
    return (perf_counter() - started) * 1e6 / items / times


def _single_steps(sizes: Sizes, report: Report) -> None:
    """One `next_after` on datetimes; a caller of cronsim constructs it each time."""
    whole, stepped, ours_all = [], [], []
    for expression, zone in product(EXPRESSIONS, ZONES):
        start = START.replace(tzinfo=ZoneInfo(zone))
        recurrence = compile_recurrence(expression, zone)
        rounds = []
        for _ in range(sizes.rounds):
            ours = _per_item(1, 50, recurrence.next_after, start)
            constructed = _per_item(1, 10, _cronsim, expression, start, 1)
            ready = [CronSim(expression, start) for _ in range(10)]
            advanced = _per_item(10, 1, _first_of_each, ready)
            rounds.append((ours, constructed, advanced))
        ours, constructed, advanced = (median(column) for column in zip(*rounds, strict=True))
        ours_all.append(ours)
        whole.append(constructed / ours)
        stepped.append(advanced / ours)
    report.figures.append(middle("next_after on datetimes", ours_all, "µs"))
    name = "next_after on datetimes, faster than constructing a cronsim and asking it"
    report.figures.append(middle(name, whole, "x").claimed(">=", 3))
    name = "next_after on datetimes, faster than asking a cronsim that was constructed before"
    report.figures.append(middle(name, stepped, "x"))


def _first_of_each(iterators: list[CronSim]) -> None:
    for iterator in iterators:
        next(iterator)


def _reading(sizes: Sizes, report: Report) -> None:
    """Expressions never read before, each compiled and asked once; then all of them again."""
    start = START.replace(tzinfo=ZoneInfo("America/New_York"))
    compile_recurrence("0 0 1 1 *", "America/New_York").next_after(start)
    ours, theirs, again = [], [], []
    for expression in _distinct(sizes.expressions):
        theirs.append(_per_item(1, 1, _cronsim, expression, start, 1))
        ours.append(_per_item(1, 1, _first, expression, start))
    for expression in _distinct(sizes.expressions):
        again.append(_per_item(1, 1, _first, expression, start))
    report.figures.append(Figure("read a new expression and find its first", median(ours), "µs"))
    report.figures.append(Figure("the same, cronsim", median(theirs), "µs"))
    report.figures.append(Figure("read a known expression again", median(again), "µs"))
    ratio = Figure("read and find the first, faster than cronsim", sum(theirs) / sum(ours), "x")
    report.figures.append(ratio.claimed(">=", 1))


def _first(expression: str, start: datetime) -> datetime | None:
    return compile_recurrence(expression, "America/New_York").next_after(start)


def _distinct(amount: int) -> list[str]:
    chance = random.Random(20260301)
    found: dict[str, None] = {}
    while len(found) < amount:
        number = chance.randint
        minute, hour, day = number(0, 59), number(0, 23), number(1, 28)
        shapes = (
            f"{minute} {hour} * * *",
            f"*/{minute + 1} {hour // 2}-{12 + hour // 2} * * {day % 4}-{4 + day % 3}",
            f"{minute},{number(0, 59)} {hour} {day} * *",
            f"{minute} {hour} {day // 2 + 1}-{14 + day // 2} {number(1, 12)} {number(0, 6)}",
            f"{minute} */{hour + 1} {day} {number(1, 6)}-{number(7, 12)} *",
        )
        found[chance.choice(shapes)] = None
    return list(found)


def _windows(sizes: Sizes, report: Report) -> None:
    """A year of every five minutes as a list of datetimes, and counts without a list."""
    zone = ZoneInfo("America/New_York")
    after = datetime(2026, 1, 1, tzinfo=zone)
    through = datetime(2027, 1, 1, tzinfo=zone)
    recurrence = compile_recurrence("*/5 * * * *", "America/New_York")
    ours, theirs = [], []
    for _ in range(sizes.rounds if sizes.rounds <= 3 else 3):
        ours.append(_per_item(1_000, 1, recurrence.between, after, through, 200_000))
        theirs.append(_per_item(1_000, 1, _croniter_until, after, through))
    report.figures.append(middle("between, a year of */5 * * * *", ours, "ms"))
    report.figures.append(middle("the same, croniter", theirs, "ms"))
    ratio = Figure("between, faster than croniter", median(theirs) / median(ours), "x")
    report.figures.append(ratio.claimed(">=", 100))
    seconds = compile_recurrence("* * * * * *", "America/New_York")
    end = after + timedelta(days=7_305)
    counts = [_per_item(1_000, 1, seconds.count_between, after, end) for _ in range(sizes.rounds)]
    figure = middle("count_between, every second for 20 years", counts, "ms")
    report.figures.append(figure.claimed("<", 2))


def _croniter_until(after: datetime, through: datetime) -> list[datetime]:
    iterator = croniter("*/5 * * * *", after)
    found = []
    while (instant := iterator.get_next(datetime)) <= through:
        found.append(instant)
    return found


def _refusals(sizes: Sizes, report: Report) -> None:
    slowest = 0.0
    definitions = [(text, "Europe/London") for text in REFUSED]
    definitions += [("@daily", zone) for zone in ("Mars/Olympus", "x" * 1_000_000)]
    for text, zone in definitions:
        rounds = [_per_item(1_000, 1, _refuse, text, zone) for _ in range(sizes.rounds)]
        slowest = max(slowest, median(rounds))
    report.figures.append(Figure("refuse bad input, slowest", slowest, "ms").claimed("<", 1))


def _refuse(text: str, zone: str) -> None:
    try:
        compile_recurrence(text, zone)
    except InvalidRecurrence:
        return
    raise AssertionError("this text must be refused")


def _memory(sizes: Sizes, report: Report) -> None:
    """What one of many distinct recurrences weighs, its share of the shared tables included."""
    expressions = (
        f"{second} {minute} {hour} * * {weekday}"
        for weekday, hour, minute, second in product(range(7), range(24), range(60), range(60))
    )
    tracemalloc.start()
    kept = [compile_recurrence(text, "UTC") for text in islice(expressions, sizes.objects)]
    weight, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    figure = Figure(f"memory of one of {len(kept)} recurrences", weight / len(kept), "bytes")
    report.figures.append(figure.claimed("<", 4_096))


if __name__ == "__main__":
    main()
