"""Several servers on one data folder, and one port for two: who is asked, and what is said."""

import json
import signal
import socket
import sys
from pathlib import Path

import pytest

from punctual.local_files import told_server
from tests.support.ledger_file import LedgerFile
from tests.support.service_process import ServiceProcess, run_punctual, wait_until


def _url(process: ServiceProcess) -> str:
    return process.wait_for_out("API: ").split()[1].rstrip(",;")


def _is_told(data: Path, url: str) -> bool:
    told = told_server(data)
    return told is not None and told.url == url


@pytest.mark.parametrize("options", [(), ("--part", "history")], ids=["whole", "part"])
def test_status_goes_on_after_an_api_beside_the_service_has_ended(
    data: Path, options: tuple[str, ...]
) -> None:
    with ServiceProcess(data, "--port", 0) as service:
        url = _url(service)
        with ServiceProcess(data, "--port", 0, *options, verb="api") as beside:
            assert _url(beside) != url
            assert _is_told(data, url)
            assert beside.stop() == 0
        status = run_punctual("status", "--data", data, "--json")
        assert json.loads(status.stdout)["ready"] is True, status.stderr
        assert _is_told(data, url)
        assert service.stop() == 0
    assert told_server(data) is None


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_server_that_stays_is_asked_after_the_registered_one_has_ended(
    data: Path, signum: signal.Signals
) -> None:
    with ServiceProcess(data, "--port", 0) as first:
        assert _is_told(data, _url(first))
        with ServiceProcess(data, "--port", 0) as second:
            url = _url(second)
            first.stop(signum)
            wait_until(lambda: _is_told(data, url), "the second has registered", timeout_s=10)
            tenants = run_punctual("tenants", "--data", data, "--json")
            assert json.loads(tenants.stdout) == [], tenants.stderr


def test_up_on_a_port_that_is_taken_says_by_whom_and_leaves_its_folder_alone(
    data: Path, tmp_path: Path
) -> None:
    with ServiceProcess(data, "--port", 0) as service:
        port = _url(service).rpartition(":")[2]
        other = run_punctual("up", "--data", tmp_path / "other", "--port", port)
        again = run_punctual("up", "--data", data, "--port", port)
        beside = run_punctual("api", "--data", data, "--port", port)
    assert not (tmp_path / "other").exists()
    who = f" (process {service.pid})" if sys.platform == "linux" else ""
    remedy = "end that, or name another one with --port (0 takes any free one)\n"
    taken = f"Not started. port: {port} is in use by a punctual{who}"
    if sys.platform == "linux":
        assert other.stderr == f"{taken} that serves {data}: {remedy}"
    else:
        assert other.stderr == f"{taken}: {remedy}"
    assert again.stderr == beside.stderr == f"{taken} that serves {data} already: {remedy}"
    assert {other.returncode, again.returncode, beside.returncode} == {1}
    assert {other.stdout, again.stdout, beside.stdout} == {""}


def test_up_with_the_receiver_port_in_use_names_the_option(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_punctual("up", "--demo", "--port", 0, "--data", data, "--receiver-port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Not started. receiver-port: {port} is in use")
    assert done.stderr.endswith("name another one with --receiver-port (0 takes any free one)\n")
    assert len(done.stderr.splitlines()) == 1
    assert not data.exists()


def test_up_says_its_first_line_before_it_opens_the_store(data: Path) -> None:
    data.mkdir()
    (data / "punctual.db").write_text("no store" * 100)
    done = run_punctual("up", "--data", data, "--port", 0)
    assert done.stdout.startswith("punctual ")
    assert done.stdout.count("\n") == 1
    assert LedgerFile(data).path.read_text() == "no store" * 100
