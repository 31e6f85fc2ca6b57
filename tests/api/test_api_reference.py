"""The page of the API against the code."""

import re
from pathlib import PurePosixPath

from control_api.api_reference import api_reference
from control_api.app import all_routers
from control_api.openapi import document_of
from tests.support.repository import text_of

PAGE = PurePosixPath("docs/api.md")
TEXT = text_of(PAGE) or ""


def test_page_is_the_codes() -> None:
    remedy = "run: python -m control_api.api_reference > docs/api.md"
    assert api_reference() + "\n" == TEXT, remedy


def test_page_has_every_request_once() -> None:
    told = re.findall(r"^\| `([A-Z]+ [^`]+)`", TEXT, re.MULTILINE)
    served = [
        f"{method.upper()} {path}"
        for path, operations in document_of(all_routers())["paths"].items()
        for method in operations
    ]
    assert sorted(told) == sorted(served)


def test_pages_links_lead_somewhere() -> None:
    headings = {line.lstrip("# ").lower() for line in TEXT.splitlines() if line.startswith("#")}
    for name in set(re.findall(r"\]\(#([a-z]+)\)", TEXT)):
        assert name in headings, name
    for file in set(re.findall(r"\]\(([a-z]+\.[a-z]+)\)", TEXT)):
        assert text_of(PAGE.parent / file), file
