"""Each checker finds what was planted for it, in a world in which it finds nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sim.checking import CHECKS, problems
from tests.sim.evidence import Evidence, gather
from tests.sim.plants_in_memory import PLANTED_ELSEWHERE, Plant
from tests.sim.plants_in_store import PLANTED_ROWS, plant_in_copy
from tests.sim.playing import played

RICH_SEED = 12  # all that the plants need happens in it; when worlds change, look for another


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
    plant_in_copy(good.path, path, sql)
    evidence = gather(
        path,
        start_us=good.start_us,
        now_us=good.now_us,
        receipts=good.receipts,
        calls=good.calls,
        answers=good.answers,
    )
    assert CHECKS[name](evidence) != []


@pytest.mark.parametrize(("name", "plant"), PLANTED_ELSEWHERE.values(), ids=PLANTED_ELSEWHERE)
def test_checker_finds_what_is_wrong_outside_the_store(
    name: str, plant: Plant, good: Evidence
) -> None:
    assert CHECKS[name](plant(good)) != []


def test_checkers_have_all_something_planted() -> None:
    planted = {*PLANTED_ROWS, *(name for name, _ in PLANTED_ELSEWHERE.values())}
    assert planted == set(CHECKS)
