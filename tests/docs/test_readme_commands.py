"""README's two commands of make: the Makefile has them, and `make run` says what stands there."""

import re
import signal
from pathlib import Path
from typing import Final

from tests.support.repository import ROOT
from tests.support.service_process import ServiceProcess, wait_until

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8")
RUN: Final = "$ make run"
# What differs from run to run: numbers, versions, and the folder that the Makefile's command takes.
DIFFERS: Final = re.compile(r"(?<=tzdata )\w+|(?<=data in )[^,]+|(?<=token in )\S+(?=/)|[0-9]+")


def shown() -> list[str]:
    """The lines below `make run`, without those that stand for others."""
    (block,) = re.findall(rf"^```text\n{re.escape(RUN)}\n(.*?)^```", README, re.M | re.S)
    return [line for line in block.splitlines() if line.strip() != "..."]


def shape(line: str) -> str:
    """A line without what differs from run to run."""
    return DIFFERS.sub("#", line)


def recipe(target: str) -> str:
    """What the Makefile does for a target, itself alone."""
    (found,) = re.findall(rf"^{re.escape(target)}:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)
    return str(found)


def test_readme_names_only_targets_of_the_makefile() -> None:
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)", README))
    assert named >= {"run", "test", "help"}
    assert named <= set(re.findall(r"^([a-z]+):.*## ", MAKEFILE, re.M))


def test_readme_shows_of_make_setup_what_the_makefile_prints() -> None:
    assert recipe("run") == "\t@$(BIN)/punctual up --demo\n"
    first, *rest = shown()
    told = re.findall(r'echo "(Creating \$\(VENV\) with Python) ', MAKEFILE)
    assert [each.replace("$(VENV)", ".venv") for each in told] == [first.rpartition(" ")[0]]
    assert re.fullmatch(r"3\.[0-9]+\.[0-9]+", first.rpartition(" ")[2])
    assert rest[0].startswith("punctual ")


def test_readme_shows_of_make_run_what_the_demo_prints(tmp_path: Path) -> None:
    """In the order in which it stands there, perhaps with more in between."""
    wanted = [shape(line) for line in shown()[1:] if line != "^C"]
    fires = [line for line in wanted if " on_time " in line]
    data = tmp_path / ".punctual"
    with ServiceProcess(data, "--demo", "--port", 0, "--receiver-port", 0) as process:
        wait_until(
            lambda: any(shape(line) in fires for line in process.out), str(fires), timeout_s=90
        )
        assert process.stop(signal.SIGINT) == 0, str(process)
    shapes = [shape(line) for line in process.out]
    assert set(wanted) <= set(shapes)
    places = [shapes.index(line) for line in wanted]
    assert places == sorted(places), (wanted, shapes)
