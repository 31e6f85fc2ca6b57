"""The oracle of the end-to-end tests: schedules of seconds, walked second by second."""

from collections import Counter
from collections.abc import Iterator

from scheduling.instants import SECOND_US
from tests.support.ledger_file import LedgerRow


def instants(seconds: str, *, after_us: int, through_us: int) -> list[int]:
    """Every instant in (after, through] of a six-field schedule that names only its seconds."""
    if seconds == "*":
        wanted = set(range(60))
    elif seconds.startswith("*/"):
        wanted = set(range(0, 60, int(seconds[2:])))
    else:
        wanted = set(map(int, seconds.split(",")))
    candidates = range(after_us // SECOND_US + 1, through_us // SECOND_US + 1)
    return [second * SECOND_US for second in candidates if second % 60 in wanted]


def cover_problems(expected: list[int], rows: list[LedgerRow]) -> Iterator[str]:
    """Instants that not exactly one row covers, and rows that cover others than they say."""
    covers = Counter[int]()
    for row in rows:
        inside = [us for us in expected if row.scheduled_us <= us <= row.last_us]
        covers.update(inside)
        if len(inside) != row.instant_count or row.sequence != 0:
            yield f"not the instants it says: {row}"
    for instant_us in expected:
        if covers[instant_us] != 1:
            yield f"{instant_us} is covered {covers[instant_us]} times"
