"""docs/operating.md: every command in it is one that the program takes, and its facts are so."""

import re
import shlex
from typing import Final

import pytest

from punctual.backups.contents import CONTENTS_NAME
from punctual.checkup.machine import SQLITE_ADVISED
from punctual.data_folder import KEYS_FOLDER, STORE_FILE
from punctual.local_files import SERVER_FILE, TOKEN_FILE
from scheduling import limits
from scheduling.limits import EPSILON_US_DEFAULT
from scheduling.vocabulary import OverlapPolicy
from tests.support.deployment import parse_command, unit_settings
from tests.support.repository import ROOT

PAGE: Final = (ROOT / "docs" / "operating.md").read_text()
BLOCKS: Final = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMPOSE: Final = re.compile(r"docker compose -f deploy/compose\.yaml (?:exec punctual|run --rm) ")


def command_lines() -> list[str]:
    """The arguments of every `punctual` in a block, however it is reached."""
    found = []
    for line in "".join(BLOCKS).splitlines():
        line = COMPOSE.sub("", line)
        words = shlex.split(line)
        names = [at for at, word in enumerate(words) if word.rpartition("/")[2] == "punctual"]
        prefix = words[: names[0]] if names else words
        if names and all("=" in word or word in ("sudo", "-u", "punctual") for word in prefix):
            found.append(shlex.join(words[names[-1] + 1 :]))
    return found


@pytest.mark.parametrize("line", command_lines())
def test_operating_page_shows_only_command_lines_that_the_program_takes(line: str) -> None:
    there = str(ROOT / "README.md")  # in place of files that have to be there
    words = [there if word.endswith((".zip", ".whl")) else word for word in shlex.split(line)]
    assert parse_command(words) is not None


def test_operating_page_has_the_commands_of_each_task() -> None:
    verbs = {line.split()[0] for line in command_lines()}
    assert verbs == {"up", "api", "doctor", "backup", "restore", "resume", "tzdata"}


def test_operating_page_names_every_file_of_the_folder() -> None:
    table = PAGE[PAGE.index("## The data folder") : PAGE.index("## Backup")]
    for name in (STORE_FILE, f"{KEYS_FOLDER}/", TOKEN_FILE, SERVER_FILE):
        assert f"| `{name}` |" in table, name
    assert f"`{CONTENTS_NAME}`" in PAGE


def test_operating_page_tells_how_long_outcomes_and_slots_wait_for_a_stopped_api() -> None:
    _, _, chapter = PAGE.partition("## When the API is stopped")
    chapter, _, _ = chapter.partition("\n## ")
    told = re.sub(r"\s+", " ", chapter)
    assert limits.OUTCOME_WINDOW_S_DEFAULT == 86_400
    assert "`outcome_window` is open (a day from the first try, unless chosen)" in told
    assert limits.RUN_TIMEOUT_S_DEFAULT == 3_600
    assert "until its `run_timeout` (an hour unless chosen)" in told
    for policy in OverlapPolicy:
        assert f"`{policy}`" in chapter
    assert (ROOT / re.findall(r"`(tests/[\w/.]+)`", chapter)[0]).is_file()


def test_operating_page_gives_the_numbers_that_hold() -> None:
    service = dict(unit_settings()["Service"])
    assert f"{service['TimeoutStopSec']} seconds at most" in PAGE
    assert f"`--epsilon-ms` ({EPSILON_US_DEFAULT // 1_000} ms)" in PAGE
    assert f"SQLite before {'.'.join(map(str, SQLITE_ADVISED))} has a rare fault" in PAGE
    assert service["EnvironmentFile"].lstrip("-") in PAGE
