"""Playing a seed to its end and gathering what a checker may see."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from structlog.testing import capture_logs

from tests.sim.evidence import Evidence, gather
from tests.sim.happenings import between_calls, run
from tests.sim.world import World

LOG_FOLDER = Path(tempfile.gettempdir()) / "punctual-sim"


@contextmanager
def played(seed: int, folder: Path) -> Iterator[tuple[World, Evidence]]:
    """The world of a seed after its end. Its log is kept when the block, or the world, fails."""
    with capture_logs():  # a bad clock is an error in the service's log, and here no news
        world = World(seed, folder, between_calls)
        try:
            run(world)
            yield world, evidence_of(world)
        except BaseException as error:
            path = _keep(world)
            error.add_note(f"the world's log: {path}; play it again: {replay(seed)}")
            raise
        finally:
            world.close()


def evidence_of(world: World) -> Evidence:
    """What checkers may see of a world, as its file is now."""
    return gather(
        world.path,
        start_us=world.night.start_us,
        now_us=world.now_us,
        receipts=world.target.receipts,
        calls=world.calls,
        answers=world.desk.answers,
    )


def replay(seed: int) -> str:
    """The command that plays one seed."""
    return f"PUNCTUAL_SIM_SEEDS={seed} .venv/bin/python -m pytest tests/sim/test_simulation.py"


def _keep(world: World) -> Path:
    LOG_FOLDER.mkdir(exist_ok=True)
    path = LOG_FOLDER / f"seed-{world.seed}.log"
    path.write_text("\n".join(world.log) + "\n", encoding="utf-8")
    return path
