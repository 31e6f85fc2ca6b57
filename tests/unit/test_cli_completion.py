"""Shell completion, driven by the protocol that the scripts speak."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from punctual.cli import COMPLETE_VARIABLE, cli


def offered(line: str, **environment: str) -> list[str]:
    """What bash is offered for the last word of a line."""
    words = line.split(" ")
    result = CliRunner().invoke(
        cli,
        prog_name="punctual",
        complete_var=COMPLETE_VARIABLE,
        env={
            COMPLETE_VARIABLE: "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
            **environment,
        },
    )
    assert (result.exit_code, result.stderr) == (0, "")
    return [row.partition(",")[2] for row in result.stdout.splitlines() if row]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param("punctual pau", ["pause"], id="command"),
        pytest.param(
            "punctual t", ["triggers", "tzdata", "tenants", "targets", "token"], id="some"
        ),
        pytest.param("punctual targets ver", ["verify"], id="command_of_a_group"),
        pytest.param("punctual pause --no", ["--note"], id="option"),
        pytest.param("punctual resume x --policy fire", ["fire_once_now", "fire_all"], id="choice"),
        pytest.param("punctual fires --state re", ["ready", "refused"], id="state"),
        pytest.param("punctual fires --exp", ["--expand"], id="option_of_a_list"),
        pytest.param("punctual fires sh", ["show"], id="command_of_a_list"),
        pytest.param("punctual preview x --zone UT", ["UTC"], id="zone"),
        pytest.param("punctual token create --grant au", ["author", "auditor"], id="grant"),
        pytest.param(
            "punctual import crontab f --zone europe/berl",
            ["Europe/Berlin"],
            id="zone_in_lower_case",
        ),
        pytest.param("punctual completion ", ["bash", "zsh", "fish"], id="shell"),
    ],
)
def test_completion_offers_what_fits(line: str, words: list[str]) -> None:
    assert offered(line) == words


@pytest.mark.parametrize(
    "line",
    [
        "punctual pause ac",
        "punctual quota ac",
        "punctual targets secret acme/",
        "punctual pause --tenant ac",
        "punctual fires ac",
        "punctual delete --server http://127.0.0.1:1 x",
        "punctual delete --server nonsense x",
    ],
)
def test_completion_of_names_without_a_service_offers_nothing_and_says_nothing(
    line: str, tmp_path: Path
) -> None:
    assert offered(line, PUNCTUAL_DATA=str(tmp_path), PUNCTUAL_TOKEN="pun_x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_calls_back_with_the_command_s_variable(shell: str) -> None:
    result = CliRunner().invoke(cli, ["completion", shell], prog_name="punctual")
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"{COMPLETE_VARIABLE}={shell}_complete" in result.stdout


def test_completion_of_another_shell_is_a_wrong_command_line() -> None:
    result = CliRunner().invoke(cli, ["completion", "tcsh"], prog_name="punctual")
    assert (result.exit_code, "'bash', 'zsh', 'fish'" in result.stderr) == (2, True)
