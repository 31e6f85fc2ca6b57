"""One installation a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api import Api


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(tmp_path)
    yield made
    made.close()
