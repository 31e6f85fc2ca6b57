"""What a service writes to stderr (punctual/logs.py)."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import logging
from ports import log_actions
from punctual.logs import configure_logs

configure_logs(level={level!r}, as_json={as_json})
log_actions.info("clock_ok", epsilon_ms=5)
logging.getLogger("some.library").warning("lost %s", "it")
try:
    payload = "a-" + "canary"
    {{}}["absent"]
except KeyError:
    logging.getLogger("some.library").exception("fault")
configure_logs(level="error", as_json=False)
log_actions.warning("clock_stepped")
"""


def written(*, level: str = "info", as_json: bool) -> list[str]:
    program = PROGRAM.format(level=level, as_json=as_json)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_logs_as_json_every_line_is_an_object_whoever_wrote_it() -> None:
    lines = [json.loads(line) for line in written(as_json=True)]
    assert [(line["level"], line["event"]) for line in lines] == [
        ("info", "clock_ok"), ("warning", "lost it"), ("error", "fault"),
    ]  # fmt: skip
    assert lines[0]["action"] == "clock_ok"
    assert "KeyError: 'absent'" in lines[2]["exception"]
    assert all(line["timestamp"].endswith("Z") for line in lines)


@pytest.mark.parametrize("as_json", [False, True])
def test_logs_of_a_fault_show_no_local_variable(as_json: bool) -> None:
    text = "\n".join(written(as_json=as_json))
    assert "KeyError" in text
    assert "a-canary" not in text


@pytest.mark.parametrize("as_json", [False, True])
def test_logs_below_the_level_are_not_written(as_json: bool) -> None:
    text = "\n".join(written(level="warning", as_json=as_json))
    assert "lost it" in text
    assert "clock_ok" not in text


def test_logs_configured_again_follow_the_new_configuration() -> None:
    assert not any("clock_stepped" in line for line in written(as_json=True))
