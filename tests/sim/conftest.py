"""Where worlds live, and what they leave behind when they fail."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def world_folder() -> Iterator[Path]:
    """A folder for one world's files, in memory where there is such a place."""
    parent = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="punctual-sim-", dir=parent) as folder:
        yield Path(folder)
