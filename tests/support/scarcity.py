"""Running out of things for a while: open files of this process, pages of a store."""

import gc
import os
import pkgutil
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import scheduling
from ports.store import Store


@contextmanager
def no_file_left() -> Iterator[None]:
    """No file can be opened in this process inside the block; what is open stays so."""
    gc.collect()  # what another test left open would close inside, and be a file again
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def fill(store: Store, *, pages: int) -> None:
    """From now on the store's writer finds room for so many pages more, then none."""
    with _database(store).write() as connection:
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={count + pages}")


def make_room(store: Store) -> None:
    with _database(store).write() as connection:
        connection.execute("PRAGMA max_page_count=1073741823")


def forget_zones() -> None:
    """Everything that the rules keep of zone files: the next use reads them again."""
    for each in pkgutil.iter_modules(scheduling.__path__):
        for kept in vars(import_module(f"scheduling.{each.name}")).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()


def _database(store: Store) -> Any:
    registry: Any = store.registry
    return registry._context.database
