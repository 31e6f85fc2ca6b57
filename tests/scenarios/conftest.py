"""One service a test, on a file of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduling.instants import from_text
from tests.support.scenarios import Play, Row
from tests.support.service import Service
from tests.support.ways import WAYS

MakeService = Callable[..., Service]
MakePlay = Callable[..., Play]


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[MakeService]:
    """A service whose clock starts at an instant in text; closed at the end."""
    made: list[Service] = []

    def make(at: str, **facts: Any) -> Service:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Service(folder, from_text(at), **facts))
        return made[-1]

    yield make
    for service in made:
        service.close()


@pytest.fixture(params=WAYS)
def make_play(request: pytest.FixtureRequest, make_service: MakeService) -> MakePlay:
    """A row played on a service of its own, once in each way; its first step says when it begins.

    `at` begins at another time.
    """

    def make(row: Row, *, at: str | None = None, tick_us: int | None = None) -> Play:
        start = at or row["case"]["steps"][0]["at"]
        return Play(row, make_service(start, tick_us=tick_us, is_empty=True), request.param)

    return make
