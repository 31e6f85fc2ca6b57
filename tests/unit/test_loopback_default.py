"""Targets on this machine: usable by themselves only where this machine alone reaches the API."""

import pytest
from click.testing import CliRunner

from punctual.cli import cli
from punctual.listening import allows_loopback


@pytest.mark.parametrize(
    ("host", "given", "expected"),
    [
        ("127.0.0.1", None, True),
        ("::1", None, True),
        ("localhost", None, True),
        ("0.0.0.0", None, False),
        ("::", None, False),
        ("192.0.2.7", None, False),
        ("0.0.0.0", True, True),
        ("127.0.0.1", False, False),
    ],
)
def test_loopback_targets_by_default_follow_the_host(
    host: str, given: bool | None, expected: bool
) -> None:
    assert allows_loopback(given, host) is expected


@pytest.mark.parametrize("option", [("--no-allow-loopback",), ("--host", "0.0.0.0")])
def test_demo_without_loopback_targets_is_refused_with_what_to_add(option: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, ["up", "--demo", *option])
    assert result.exit_code == 2
    assert "--demo: its receiver is on this machine: add --allow-loopback." in result.stderr
