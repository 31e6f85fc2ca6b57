"""Every command and output on a page comes from a run, and every block is one that is played."""

from pathlib import Path
from typing import Final

import pytest

from tests.support.document_play import PLAYED, complaints
from tests.support.documents import Block, Cue, blocks_of, parts_of
from tests.support.repository import ROOT

PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ON_STAGE: Final = [page for page in PAGES if "<!-- play: starts" in page.read_text()]
FILES: Final = ("yaml", "json", "python")


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


def test_pages_with_commands_and_answers_are_on_stage() -> None:
    shown = {page for page in PAGES if any(blocks_of(page.read_text(), *PLAYED))}
    assert shown == set(ON_STAGE)
