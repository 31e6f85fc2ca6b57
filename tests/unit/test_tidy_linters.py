"""The bans of ruff and the contracts of import-linter, each shown to refuse a planted breach."""

import json
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.support import tidy_imports
from tests.support.repository import ROOT, pyproject, top_level_packages

BIN: Final = Path(sysconfig.get_path("scripts"))

# (name, source); every key of the ban list is planted as well
BANNED_USES: Final = [
    ("time_call", "import time\n\nX = time.time()\n"),
    ("time_from", "from time import monotonic\n"),
    ("now", "from datetime import UTC, datetime\n\nX = datetime.now(UTC)\n"),
    ("now_by_alias", "import datetime as d\n\nX = d.datetime.now(d.UTC)\n"),
    ("utcnow", "import datetime\n\nX = datetime.datetime.utcnow()\n"),
    ("today", "import datetime\n\nX = datetime.date.today()\n"),
    ("urandom", "from os import urandom\n"),
    ("open", 'X = open("a")\n'),
    ("numpy_random", "import numpy as np\n\nX = np.random.default_rng()\n"),
    ("sockets", "import socket\n"),
    ("sqlite", "import sqlite3\n"),
    ("uuid", "from uuid import uuid4\n"),
]
BAN_KEYS: Final = tuple(pyproject()["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"])

# (id, file, import, whether a contract breaks)
PLANTED_IMPORTS: Final = [
    ("rules_import_ports", "scheduling", "import ports", True),
    ("ports_import_adapters", "ports", "import adapters", True),
    ("dispatcher_imports_control_api", "dispatcher", "import control_api", True),
    ("punctual_imports_pipelines", "punctual", "import pipelines", True),
    ("punctual_imports_transforms", "punctual", "import transforms", True),
    ("transforms_import_adapters", "transforms", "import adapters", True),
    ("transforms_import_ports", "transforms", "import ports", False),
    ("pipelines_import_both", "pipelines", "import adapters\nimport transforms", False),
]
PACKAGES: Final = (
    *pyproject()["tool"]["importlinter"]["root_packages"],
    *("control_api", "transforms", "pipelines"),
)


def ruff_findings(folder: Path, files: Sequence[Path]) -> set[tuple[str, str]]:
    """(file name, code) of what ruff finds under the project's own configuration."""
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    done = subprocess.run(
        [BIN / "ruff", "check", "--no-cache", "--output-format=json", *files],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return {(Path(row["filename"]).name, row["code"]) for row in json.loads(done.stdout)}


def plant(folder: Path, name: str, source: str) -> Path:
    path = folder / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'"""Planted."""\n\n{source}', encoding="utf-8")
    return path


def test_scheduling_bans_refuse_every_clock_randomness_and_io(tmp_path: Path) -> None:
    folder = tmp_path / "scheduling"
    files = [plant(folder, name, source) for name, source in BANNED_USES]
    refused = {
        name for name, code in ruff_findings(tmp_path, files) if code in {"TID251", "PTH123"}
    }
    assert refused == {f"{name}.py" for name, _ in BANNED_USES}


def test_scheduling_bans_refuse_every_key_of_the_ban_list(tmp_path: Path) -> None:
    names = {key.replace(".", "_"): key for key in BAN_KEYS}
    files = [
        plant(
            tmp_path / "scheduling",
            name,
            f"import {key.split('.')[0]}\n\nX = {key}\n",
        )
        for name, key in names.items()
    ]
    refused = {name for name, code in ruff_findings(tmp_path, files) if code == "TID251"}
    assert refused == {f"{name}.py" for name in names}


def test_scheduling_bans_hold_in_scheduling_only(tmp_path: Path) -> None:
    files = [plant(tmp_path / "adapters", name, source) for name, source in BANNED_USES]
    codes = {code for _, code in ruff_findings(tmp_path, files)}
    assert codes.isdisjoint({"TID251", "PTH123"})


@pytest.mark.parametrize(
    ("package", "imported", "breaks"),
    [row[1:] for row in PLANTED_IMPORTS],
    ids=[row[0] for row in PLANTED_IMPORTS],
)
def test_import_contract_on_a_planted_import_breaks_where_it_should(
    tmp_path: Path, package: str, imported: str, breaks: bool
) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    configuration = re.sub(
        r"root_packages = \[[^]]*\]", f"root_packages = {json.dumps(PACKAGES)}", text
    )
    assert configuration != text
    (tmp_path / "pyproject.toml").write_text(configuration, encoding="utf-8")
    for name in PACKAGES:
        plant(tmp_path / name, "__init__", "")
    plant(tmp_path / package, "planted", imported + "\n")
    done = subprocess.run(
        [BIN / "lint-imports", "--no-logo", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "contracts" in done.stdout.lower(), done.stdout
    assert (done.returncode != 0) == breaks, done.stdout
    assert (" 0 broken" not in done.stdout) == breaks, done.stdout


def test_base_packages_import_without_beam_and_cloud_clients() -> None:
    script = (
        "import importlib, pkgutil, sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'apache_beam' or name.startswith(('google.cloud', 'google.api')):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "suffixes = tuple(sys.argv[1].split(','))\n"
        "for name in sys.argv[2:]:\n"
        "    package = importlib.import_module(name)\n"
        "    for module in pkgutil.walk_packages(package.__path__, name + '.'):\n"
        "        if not module.name.endswith(suffixes) and '__main__' not in module.name:\n"
        "            importlib.import_module(module.name)\n"
        "            sys.stdout.write(module.name + '\\n')\n"
    )
    suffixes = ",".join(tidy_imports.CLOUD_SUFFIXES)
    packages = sorted(tidy_imports.BASE_PACKAGES & top_level_packages())
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, suffixes, *packages],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "scheduling.vocabulary" in done.stdout.split()
