"""Every due instant up to the cursor is covered by exactly one row, open pause or gap."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from tests.sim.evidence import Evidence, Interval, Row, TriggerKey, said

GRACE_FOR_LOOKING_US = 1_000_000


def check(evidence: Evidence) -> list[str]:
    """Against the oracle's instants under the spans; the cursor is the ledger's own."""
    problems: list[str] = []
    for trigger in evidence.tables["trigger"]:
        key = (trigger["tenant_id"], trigger["trigger_id"])
        rows = [row for row in evidence.rows("fire")[key] if row["sequence"] == 0]
        gaps = evidence.rows("gap")[key]
        covers, wrong = _covers(evidence, key, rows, gaps)
        problems += wrong
        cursor_us = max(
            [trigger["created_at"], *(_last(row) for row in rows)]
            + [gap["through_instant"] for gap in gaps]
        )
        expected: set[int] = set()
        for interval in evidence.intervals(key):
            instants = evidence.expected(key, interval)
            expected.update(instants)
            problems += _uncovered(evidence, key, interval, instants, covers, cursor_us, rows)
        problems += [
            f"covered {count} times: {said(key, us)}" for us, count in covers.items() if count > 1
        ]
        problems += [
            f"covered but never due: {said(key, us)}" for us in covers if us not in expected
        ]
    return problems


def _covers(
    evidence: Evidence, key: TriggerKey, rows: list[Row], gaps: list[Row]
) -> tuple[Counter[int], list[str]]:
    """How often each instant is covered, and rows whose count is not what they cover."""
    covers: Counter[int] = Counter()
    wrong: list[str] = []
    for row in rows:
        if row["through_instant"] is None:
            covers[row["scheduled_instant"]] += 1
            continue
        listed = evidence.instants(key, row["version"])
        inside = listed[
            bisect_left(listed, row["scheduled_instant"]) : bisect_right(
                listed, row["through_instant"]
            )
        ]
        covers.update(inside)
        if len(inside) != row["instant_count"]:
            wrong.append(
                f"a range of {row['instant_count']} covers {len(inside)}: "
                f"{said(key, row['scheduled_instant'])}"
            )
    for gap in gaps:
        listed = evidence.instants(key, gap["version"])
        first = bisect_right(listed, gap["planned_through"])
        covers.update(listed[first : bisect_right(listed, gap["through_instant"])])
    return covers, wrong


def _uncovered(
    evidence: Evidence,
    key: TriggerKey,
    interval: Interval,
    instants: Sequence[int],
    covers: Counter[int],
    cursor_us: int,
    rows: list[Row],
) -> list[str]:
    if interval.kind == "deleted" or (
        interval.kind == "paused" and _is_open(evidence, key, interval)
    ):
        return []
    cap = evidence.version(key, interval.version)["max_fires"]
    missing = []
    for us in instants:
        is_due = us <= cursor_us
        if interval.kind == "live" and interval.is_last and not is_due:
            due_us = evidence.due_us(key, interval.version, us)
            is_due = due_us < evidence.now_us - GRACE_FOR_LOOKING_US
        if interval.through_us is not None:
            is_due = True
        if is_due and not covers[us]:
            missing.append(us)
    if cap is not None and _is_beyond_cap(missing, instants, covers, rows, cap):
        return []
    return [f"not covered: {said(key, us)} ({interval.kind})" for us in missing]


def _is_open(evidence: Evidence, key: TriggerKey, interval: Interval) -> bool:
    """A pause that no later span ended."""
    later = [each for each in evidence.intervals(key) if each.after_us >= interval.after_us]
    return all(each.kind == "paused" for each in later)


def _is_beyond_cap(
    missing: list[int], instants: Sequence[int], covers: Counter[int], rows: list[Row], cap: int
) -> bool:
    """What is missing is the span's end, and as many instants as allowed came before."""
    if not missing:
        return False
    last_covered_us = max((us for us in instants if covers[us]), default=0)
    candidates = sum(row["instant_count"] for row in rows if row["scheduled_instant"] < missing[0])
    return missing[0] > last_covered_us and candidates >= cap


def _last(row: Row) -> int:
    last: int = row["through_instant"] or row["scheduled_instant"]
    return last
