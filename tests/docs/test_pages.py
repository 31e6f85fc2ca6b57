"""Every command and output on a page comes from a run, and every block is one that is played."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.document_play import PLAYED, complaints
from tests.support.documents import Block, Cue, blocks_of, parts_of
from tests.support.repository import ROOT
from tests.support.stand_ins import TZDATA

PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ON_STAGE: Final = [page for page in PAGES if "<!-- play: starts" in page.read_text()]
FILES: Final = ("yaml", "json", "python")
# These have tests of their own: the usage of each command, and what needs another machine.
CHECKED_ELSEWHERE: Final = {"docs/cli.md", "docs/operating.md"}
MAKE: Final = "$ make "  # what it starts goes on running: see test_readme_commands
COMMAND_LINE: Final = re.compile(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S*/)?punctual ", re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", ON_STAGE, ids=name_of)
def test_page_shows_what_its_commands_print(page: Path) -> None:
    found = complaints(name_of(page), page.read_text(encoding="utf-8"))
    assert not found, "\n".join((*found, f"look, then: python -m tests.docs {name_of(page)}"))


@pytest.mark.parametrize("page", ON_STAGE, ids=name_of)
def test_page_uses_every_file_that_it_shows(page: Path) -> None:
    parts = parts_of(page.read_text(encoding="utf-8"))
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if isinstance(part, Block) and part.language in FILES:
            is_kept = isinstance(following, Cue) and following.text.startswith("file ")
            assert is_kept, f"{name_of(page)}:{part.line}: keep the block with a cue `file NAME`"


def test_readme_says_which_question_each_page_answers() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {name_of(page) for page in PAGES[1:]} | {"docs/adr/README.md", "CONTRIBUTING.md"}
    assert {page for page in pages if f"({page})" not in readme} == set()


def unplayed(text: str) -> list[int]:
    """The lines of the blocks that show a command and are not played."""
    return [
        part.line
        for part in parts_of(text)
        if isinstance(part, Block)
        and part.language not in PLAYED
        and not part.content.startswith(MAKE)
        and COMMAND_LINE.search(part.content)
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_shows_commands_only_where_they_are_played(page: Path) -> None:
    if name_of(page) not in CHECKED_ELSEWHERE:
        assert unplayed(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("block", "is_found"),
    [
        pytest.param("```text\npunctual apply -f acme.yaml\n```", True, id="text"),
        pytest.param("```\n# first\n$ .venv/bin/punctual up\n```", True, id="no language"),
        pytest.param("```bash\nA=b punctual up\n```", True, id="with a variable"),
        pytest.param("    punctual up", False, id="no fence"),
        pytest.param("```console\n$ punctual up\n```", False, id="played"),
        pytest.param("```text\n$ make run\npunctual 0.1.0: data\n```", False, id="make"),
        pytest.param("```text\nthe box  punctual fires\n```", False, id="a drawing"),
    ],
)
def test_planted_command_outside_of_a_played_block_is_found(block: str, is_found: bool) -> None:
    assert unplayed(f"# Page\n\n{block}\n") == ([3] if is_found else [])


def test_pages_show_one_version_of_the_zone_data() -> None:
    shown = [re.findall(r"\b20[0-9]{2}[a-z]\b", page.read_text(encoding="utf-8")) for page in PAGES]
    assert {version for found in shown for version in found} == {TZDATA}


def test_pages_with_commands_and_answers_are_on_stage() -> None:
    shown = {page for page in PAGES if any(blocks_of(page.read_text(), *PLAYED))}
    assert shown == set(ON_STAGE)
