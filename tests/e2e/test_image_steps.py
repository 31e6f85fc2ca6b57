"""The steps that build the image, run without a container: a clean environment, locked packages.

Only pip gives way to uv where it installs: it takes the same locks, from a cache of its own.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from punctual.version import __version__
from tests.support.deployment import dockerfile_steps
from tests.support.repository import ROOT
from tests.support.services import require_service

STEP_S = 600
PIP_INSTALL = re.compile(r"(\S+/bin/python) -m pip install")


def run(line: str, source: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name != "VIRTUAL_ENV"
    }
    path = os.pathsep.join((str(source.parent / "bin"), os.environ["PATH"]))
    return subprocess.run(
        ["sh", "-e", "-c", line],
        cwd=source,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )


def copy(rest: str, source: Path) -> None:
    *names, target = rest.split()
    for name in names:
        place = source / target / Path(name).name if target.endswith("/") else source / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, place)


def test_image_steps_make_a_program_that_runs_without_the_project_s_folder(tmp_path: Path) -> None:
    source, made = tmp_path / "src", tmp_path / "opt"
    source.mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    last = ""
    for step in dockerfile_steps():
        if step.stage != 0:
            continue
        if step.instruction == "COPY":
            copy(step.rest, source)
        elif step.instruction == "RUN":
            uv = Path(sys.executable).with_name("uv")
            line = step.rest.replace("/opt/", f"{made}/")
            line = PIP_INSTALL.sub(rf"{uv} pip install --python \1", line)
            done = run(line, source)
            if "--require-hashes" in line:
                require_service(
                    "a package index",
                    lambda done=done: done.returncode == 0,  # type: ignore[misc]
                    f"connecting this machine to one ({done.stderr.strip()[-200:]})",
                )
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            last = done.stdout
    assert last.startswith(f"punctual {__version__} ")

    program = made / "punctual" / "bin" / "punctual"
    shown = run(f"{program} preview '0 9 * * *' --zone Europe/Berlin", tmp_path / "bin")
    assert (shown.returncode, "09:00" in shown.stdout) == (0, True)
    opened = run(f"{program} doctor --data {tmp_path}/nothing --json", tmp_path / "bin")
    assert opened.returncode == 1, "it looks for a store and finds none"
    where = run(f"{program.parent}/python -c 'import punctual; print(punctual.__file__)'", made)
    assert where.stdout.startswith(str(made)), "what ran is the wheel, not the project's folder"
