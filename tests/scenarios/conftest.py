"""One service a test, on a file of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scheduling.instants import from_text
from tests.support.service import Service

MakeService = Callable[..., Service]


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[MakeService]:
    """A service whose clock starts at an instant in text; closed at the end."""
    made: list[Service] = []

    def make(at: str, *, tick_us: int | None = None) -> Service:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Service(folder, from_text(at), tick_us))
        return made[-1]

    yield make
    for service in made:
        service.close()
