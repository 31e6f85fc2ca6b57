"""The guards that hold for every test, seen at work in a pytest run of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import hypothesis
import pytest

from tests.support.repository import ROOT

PLANTED: Final = """
import logging, warnings
import pytest, structlog
from tests.support.services import require_service


@pytest.fixture
def noisy_teardown():
    yield
    logging.getLogger("late").error("late")


def refused():
    raise ConnectionRefusedError


def test_plain():
    logging.getLogger("a").warning("only a warning")
    assert 1 + 1 == 2


def test_stdlib_error():
    logging.getLogger("a").error("lost %s", "it")


def test_structlog_error():
    structlog.get_logger("b").error("store_away", tenant="t")


@pytest.mark.expects_error_log
def test_expected_error():
    structlog.get_logger().error("store_away")


@pytest.mark.expects_error_log
def test_expected_error_missing():
    assert 1 + 1 == 2


def test_teardown_error(noisy_teardown):
    assert 1 + 1 == 2


def test_warning():
    warnings.warn("old", UserWarning)


def test_service_there():
    require_service("Store", lambda: True, "store start")


def test_service_away():
    require_service("Store", refused, "store start")
"""


def outcomes_under(folder: Path, *, ci: str | None) -> dict[str, str]:
    """What pytest says of each planted test, with its message."""
    (folder / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (folder / "test_planted.py").write_text(PLANTED, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    if ci is not None:
        environment["CI"] = ci
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-rA"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        cwd=ROOT,
        env={**environment, "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = re.findall(r"^([A-Z]+) (?:\[\d+\] )?\S*?(?:::|py:\d+: )(.*)$", done.stdout, re.MULTILINE)
    return {text: outcome for outcome, text in rows}


def outcome(rows: dict[str, str], name: str) -> set[tuple[str, str]]:
    """(outcome, message) of one test; a test that fails in its teardown has two."""
    return {
        (word, text.removeprefix(name).removeprefix(" - ").removeprefix("Failed: "))
        for text, word in rows.items()
        if text == name or text.startswith(f"{name} ")
    }


def test_guards_refuse_logged_errors_and_warnings(tmp_path: Path) -> None:
    rows = outcomes_under(tmp_path, ci=None)
    assert outcome(rows, "test_plain") == {("PASSED", "")}
    assert outcome(rows, "test_expected_error") == {("PASSED", "")}
    assert outcome(rows, "test_stdlib_error") == {("FAILED", "logged at error level: a: lost it")}
    ((word, message),) = outcome(rows, "test_structlog_error")
    assert word == "FAILED"
    assert "b: event='store_away' tenant='t'" in message
    ((word, message),) = outcome(rows, "test_expected_error_missing")
    assert word == "FAILED"
    assert "no error was logged" in message
    assert ("ERROR", "logged at error level: late: late") in outcome(rows, "test_teardown_error")
    assert outcome(rows, "test_warning") == {("FAILED", "UserWarning: old")}


def test_require_service_outside_ci_skips_with_the_start_command(tmp_path: Path) -> None:
    rows = outcomes_under(tmp_path, ci=None)
    assert outcome(rows, "test_service_there") == {("PASSED", "")}
    message = "Store is not running; start it with: store start"
    assert any(word == "SKIPPED" and message in text for text, word in rows.items())


def test_require_service_in_ci_fails_with_the_start_command(tmp_path: Path) -> None:
    rows = outcomes_under(tmp_path, ci="true")
    assert outcome(rows, "test_service_away") == {
        ("FAILED", "Store is not running; start it with: store start")
    }


@pytest.mark.parametrize("profile", ["dev", "ci"])
def test_hypothesis_profiles_are_derandomized_without_deadline(profile: str) -> None:
    settings = hypothesis.settings.get_profile(profile)
    assert settings.derandomize
    assert settings.deadline is None
