"""A progress bar for what takes longer than two seconds, on a terminal alone."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SHOWN_AFTER_S: Final = 2.0

Advance = Callable[[float], None]


@contextmanager
def progress_bar(
    label: str, *, elapsed_s: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Call what it gives with the part that is done, 0 to 1; the bar goes when the block ends.

    It is on stderr, so that a pipe holds only the answer.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = Console(stderr=True)
    columns = (TextColumn(label), BarColumn(), TaskProgressColumn(), Remaining())
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task(label, total=1.0)
    start_s, is_shown = elapsed_s(), False

    def advance(done: float) -> None:
        nonlocal is_shown
        if not is_shown and sys.stderr.isatty() and elapsed_s() - start_s >= SHOWN_AFTER_S:
            is_shown = True
            progress.start()
        progress.update(task, completed=done)

    try:
        yield advance
    finally:
        if is_shown:
            progress.stop()
