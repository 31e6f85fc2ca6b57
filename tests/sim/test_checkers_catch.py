"""Each checker finds what was planted for it, in a world in which it finds nothing."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ports.changes import ChangeKind
from tests.sim.checking import CHECKS, problems
from tests.sim.evidence import Evidence, gather
from tests.sim.playing import played

RICH_SEED = 1  # all that the plants need happens in it; when worlds change, look for another

# One statement on the store's file each; `is_single` and `is_ranged` stand for one row, see VIEWS.
PLANTED_ROWS = {
    "coverage": {
        "a fire is lost": "DELETE FROM fire WHERE is_single",
        "a range is lost": "DELETE FROM fire WHERE is_ranged",
        "a range miscounts": "UPDATE fire SET instant_count = instant_count + 1 WHERE is_ranged",
        "a range is too short": "UPDATE fire SET through_instant = scheduled_instant"
        " WHERE is_ranged",
        "an instant is made up": "UPDATE fire SET scheduled_instant = scheduled_instant + 1000000"
        " WHERE is_single",
        "the newest are never decided": "DELETE FROM fire WHERE trigger_id = (SELECT trigger_id"
        " FROM trigger WHERE state = 'live' LIMIT 1)",
    },
    "decided_once": {
        "a row inside a range": "UPDATE fire SET scheduled_instant = (SELECT through_instant"
        " FROM ranged WHERE ranged.trigger_id = fire.trigger_id) WHERE is_single",
    },
    "early": {
        "a fire is due before its smear": "UPDATE fire SET due_at = due_at - 1 WHERE is_single",
    },
    "fire_cap": {
        "one fire was allowed": "UPDATE trigger_version SET max_fires = 1",
    },
    "held_ends": {
        "a fire is left": "UPDATE fire SET state = 'queued' WHERE is_single",
        "a gap is left": "INSERT INTO gap SELECT tenant_id, trigger_id, 0, 0, partition_id,"
        " version, 'fire_all', 0, 0, 1, 0 FROM fire LIMIT 1",
        "a slot is left": "INSERT OR REPLACE INTO in_flight SELECT tenant_id, trigger_id,"
        " partition_id, scheduled_instant, sequence, 0, NULL FROM fire WHERE state = 'succeeded'"
        " LIMIT 1",
    },
    "receipts": {
        "a received fire is not committed": "DELETE FROM fire WHERE state = 'succeeded'",
        "an attempt has no row": "DELETE FROM attempt WHERE n = 1",
        "an unsent fire is accepted": "UPDATE fire SET state = 'accepted'"
        " WHERE state = 'not_dispatched' AND through_instant IS NULL",
        "a sent fire is not dispatched": "UPDATE fire SET state = 'not_dispatched'"
        " WHERE state = 'succeeded'",
        "another version went out": "UPDATE fire SET version = version + 1"
        " WHERE state = 'succeeded'",
    },
    "retries": {
        "a number is left out": "UPDATE attempt SET n = 9 WHERE n = 2",
        "the budget is passed": "UPDATE trigger_version SET attempt_budget = 0",
        "the window is passed": "UPDATE attempt SET dispatched_at = dispatched_at + 9000000000"
        " WHERE n = 2",
    },
    "due_index": {
        "a row is lost": "DELETE FROM due_index_row",
        "a count is off": "UPDATE due_index_row SET fired_count = fired_count + 1",
        "a cursor is behind": "UPDATE due_index_row SET decided_through = decided_through - 1",
        "a due time is off": "UPDATE due_index_row SET next_due_at = next_due_at + 1",
        "a revision is off": "UPDATE due_index_row SET revision = revision + 1",
    },
}
# One fire that succeeded and one range of several instants, both of one trigger.
VIEWS = """
CREATE TEMP VIEW ranged AS SELECT trigger_id, scheduled_instant AS first, through_instant FROM fire
  WHERE sequence = 0 AND through_instant > scheduled_instant AND trigger_id IN (
    SELECT trigger_id FROM fire WHERE state = 'succeeded') ORDER BY trigger_id LIMIT 1;
CREATE TEMP VIEW single AS SELECT fire.trigger_id, scheduled_instant AS first FROM fire, ranged
  WHERE sequence = 0 AND state = 'succeeded' AND fire.trigger_id = ranged.trigger_id LIMIT 1;
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """A world with its promises kept."""
    with played(RICH_SEED, tmp_path_factory.mktemp("good")) as (_, evidence):
        assert problems(evidence) == []
        yield evidence


def planted_rows() -> list[object]:
    """Each checker with each statement that it has to notice."""
    return [
        pytest.param(name, sql, id=f"{name}: {fault}".replace(" ", "_"))
        for name, faults in PLANTED_ROWS.items()
        for fault, sql in faults.items()
    ]


@pytest.mark.parametrize(("name", "sql"), planted_rows())
def test_checker_finds_what_is_wrong_in_the_store(
    name: str, sql: str, good: Evidence, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    _copy(good.path, path)
    _plant(path, sql)
    evidence = gather(
        path,
        start_us=good.start_us,
        now_us=good.now_us,
        receipts=good.receipts,
        calls=good.calls,
        answers=good.answers,
    )
    assert CHECKS[name](evidence) != []


def _second_delivery(evidence: Evidence) -> Evidence:
    return replace(evidence, receipts=[*evidence.receipts, evidence.receipts[0]])


def _early_delivery(evidence: Evidence) -> Evidence:
    first = evidence.receipts[0]
    early = first._replace(at_us=first.fire.due_us - 1)
    return replace(evidence, receipts=[early, *evidence.receipts[1:]])


def _swapped_claims(evidence: Evidence) -> Evidence:
    """The claims of the whole world in the opposite order."""
    claims = iter([call for call in reversed(evidence.calls) if call.name == "ledger.claim"])
    calls = [next(claims) if call.name == "ledger.claim" else call for call in evidence.calls]
    return replace(evidence, calls=calls)


def _claim_after(kind: ChangeKind) -> Callable[[Evidence], Evidence]:
    """A claim's repeat right behind the first change of that kind to its trigger."""

    def plant(evidence: Evidence) -> Evidence:
        calls = list(evidence.calls)
        claims = [call for call in calls if call.name == "ledger.claim" and call.result]
        for index, call in enumerate(calls):
            if call.name != "registry.apply":
                continue
            if any(result.kind is ChangeKind.RESUMED for result in call.result):
                continue
            stopped = {result.trigger_id for result in call.result if result.kind is kind}
            for claim in claims:
                if claim.result[0].key.trigger_id in stopped:
                    calls.insert(index + 1, claim)
                    return replace(evidence, calls=calls)
        raise AssertionError(f"nothing was {kind} after it had fired")

    return plant


def _two_runs_at_once(evidence: Evidence) -> Evidence:
    """A run that goes on until the next fire of its trigger arrives."""
    receipts = list(evidence.receipts)
    for index, receipt in enumerate(receipts):
        key = (receipt.fire.key.tenant_id, receipt.fire.key.trigger_id)
        version = evidence.version(key, receipt.fire.version)
        if version["overlap_policy"] == "allow" or not receipt.answer.runs:
            continue
        for later in receipts[index + 1 :]:
            if later.fire.key[:2] == key and later.fire.key != receipt.fire.key:
                receipts[index] = receipt._replace(
                    at_us=later.at_us - 1, run_ends_us=later.at_us + 1
                )
                changed = replace(evidence, receipts=receipts)
                if CHECKS["overlap"](changed):
                    return changed
                receipts[index] = receipt
    raise AssertionError("no two runs of a trigger that forbids overlap")


PLANTED_ELSEWHERE: dict[str, tuple[str, Callable[[Evidence], Evidence]]] = {
    "decided_once-delivered-twice": ("decided_once", _second_delivery),
    "early-delivery": ("early", _early_delivery),
    "order-claims-reversed": ("order", _swapped_claims),
    "silence-claim-after-pause": ("silence", _claim_after(ChangeKind.PAUSED)),
    "silence-claim-after-delete": ("silence", _claim_after(ChangeKind.DELETED)),
    "overlap-two-runs": ("overlap", _two_runs_at_once),
}


@pytest.mark.parametrize(("name", "plant"), PLANTED_ELSEWHERE.values(), ids=PLANTED_ELSEWHERE)
def test_checker_finds_what_is_wrong_outside_the_store(
    name: str, plant: Callable[[Evidence], Evidence], good: Evidence
) -> None:
    assert CHECKS[name](plant(good)) != []


def test_checkers_have_all_something_planted() -> None:
    planted = {*PLANTED_ROWS, *(name for name, _ in PLANTED_ELSEWHERE.values())}
    assert planted == set(CHECKS)


def _copy(source: Path, path: Path) -> None:
    origin, copy = sqlite3.connect(source), sqlite3.connect(path)
    origin.backup(copy)
    origin.close()
    copy.close()


def _plant(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(VIEWS)
        for view in ("single", "ranged"):
            found = f"(trigger_id, scheduled_instant) = (SELECT trigger_id, first FROM {view})"
            sql = sql.replace(f"is_{view}", found)
        assert connection.execute(sql).rowcount > 0
    finally:
        connection.close()
