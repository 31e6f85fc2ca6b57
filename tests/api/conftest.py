"""One installation a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api import Api
from tests.support.served import Served


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(tmp_path)
    yield made
    made.close()


@pytest.fixture
def served(api: Api) -> Iterator[Served]:
    made = Served(api)
    yield made
    made.close()
