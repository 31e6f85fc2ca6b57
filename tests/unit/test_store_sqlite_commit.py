"""The SQLite due index: whose trouble an exception is."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from adapters import store_sqlite_commit
from scheduling.errors import RuleError
from scheduling.vocabulary import TriggerState
from tests.contract.factories import SqliteHarness
from tests.support.hand_crank import HandCrank


@pytest.fixture
def crank(tmp_path: Path) -> Iterator[HandCrank]:
    harness = SqliteHarness(tmp_path)
    crank = HandCrank(harness.open()).begin()
    crank.put()
    crank.to(60)
    yield crank
    harness.close()


def _raise_in_decide(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def decide(*unused: object) -> NoReturn:
        raise error

    monkeypatch.setattr(store_sqlite_commit, "decide", decide)


def test_commit_out_of_memory_quarantines_nothing_and_decides_later(
    crank: HandCrank, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        _raise_in_decide(patched, MemoryError())
        with pytest.raises(MemoryError):
            crank.commit()
    assert crank.trigger().state is TriggerState.LIVE
    crank.commit()
    assert crank.lines() == ["60 ready"]


@pytest.mark.parametrize(
    "error", [RuleError("no such day"), ZeroDivisionError("by zero"), KeyError("no version 3")]
)
def test_commit_of_a_rule_that_raises_quarantines_its_trigger(
    crank: HandCrank, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    _raise_in_decide(monkeypatch, error)
    (quarantined,) = crank.commit().quarantined
    assert quarantined.error == f"{type(error).__name__}: {error}"
    assert crank.trigger().state is TriggerState.QUARANTINED
