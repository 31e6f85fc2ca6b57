"""Two processes with different zone data on one file: the second refuses, the first goes on."""

import os
import shutil
from pathlib import Path

import pytest
import tzdata

from tests.e2e.conftest import Start
from tests.support.http_receiver import HttpReceiver
from tests.support.ledger_file import LedgerFile
from tests.support.service_manifest import a_trigger, write_manifest
from tests.support.service_process import run_punctual, wait_until


@pytest.fixture
def other_tzdata(tmp_path: Path) -> dict[str, str]:
    """An environment whose tzdata says that it is another version."""
    package = Path(tzdata.__file__).parent
    copy = tmp_path / "elsewhere" / "tzdata"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / "__init__.py").read_text()
    (copy / "__init__.py").write_text(text.replace(tzdata.IANA_VERSION, "2099z"))
    rest = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(copy.parent), *([rest] if rest else [])])}


@pytest.mark.parametrize("with_manifest", [False, True], ids=["bare", "with_manifest"])
def test_up_with_other_zone_data_refuses_and_the_first_process_goes_on(
    data: Path,
    tmp_path: Path,
    start: Start,
    receiver: HttpReceiver,
    ledger: LedgerFile,
    other_tzdata: dict[str, str],
    with_manifest: bool,
) -> None:
    file = write_manifest(tmp_path / "acme.yaml", receiver.url(), {"tick": a_trigger()})
    first = start("--manifest", file)
    wait_until(lambda: bool(receiver.arrivals), "the first one fires")
    owners = ledger.owners()

    options: list[str | Path] = ["--manifest", file] if with_manifest else []
    done = run_punctual("up", "--data", data, *options, environment=other_tzdata)
    assert done.returncode == 1
    assert done.stderr == (
        f"Not started. the store is pinned to tzdata {tzdata.IANA_VERSION}, this process has "
        "2099z: install the pinned version, or run `punctual tzdata adopt`\n"
    )
    assert ledger.owners() == owners, "it took no partition"
    seen = len(receiver.arrivals)
    wait_until(lambda: len(receiver.arrivals) > seen, "the first one still fires")
    assert first.err == []
