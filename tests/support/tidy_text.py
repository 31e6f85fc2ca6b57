"""Tidy rules on plain text: columns, unfinished marks, hosts and machine paths, links, SQL names.

A rule takes a path and its text and yields complaints; where it does not apply it yields nothing.
The words that the rules refuse are put together from pieces, since the rules read this file too.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

COLUMNS_MAX: Final = 100
COLUMN_SUFFIXES: Final = frozenset({".py", ".sql", ".toml", ".sh"})
CODE_SUFFIXES: Final = COLUMN_SUFFIXES | {".yaml", ".yml", ".html", ".js", ".css", ""}
SKIP_ALLOWED_IN: Final = PurePosixPath("tests/support/services.py")
SAMPLE_FOLDERS: Final = frozenset({("tests", "cases"), ("tests", "golden")})

_UNFINISHED: Final = re.compile(
    r"\b(?:"
    + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "Not" + "ImplementedError"))
    + r")\b"
    r"|pragma:\s*no" + r"\s+cover"
)
_SKIP: Final = re.compile(
    r"pytest\.mark\.(?:skip|xfail)|pytest\.(?:skip|xfail|importorskip)\b|unittest\.skip"
)
_HOST_PARTS: Final = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("crates", "io"),
    ("golang", "org"),
    ("npmjs", "org"),
    ("maven", "org"),
    ("maven.apache", "org"),
    ("debian", "org"),
)
_HOST: Final = re.compile(r"\b(?:" + "|".join(r"\.".join(parts) for parts in _HOST_PARTS) + r")\b")
_MACHINE_PARTS: Final = ("/ro" + r"ot\b", "/wo" + "rk/", "/ho" + r"me/\w+", "/Us" + r"ers/\w+")
_MACHINE_PATH: Final = re.compile(
    r"(?<![\w./~:{}-])(?:" + "|".join(_MACHINE_PARTS) + r")|\.\./sha" + r"red\b"
)
_FENCE: Final = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
_CODE_SPAN: Final = re.compile(r"`[^`\n]*`")
_LINK: Final = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_SQL_NAME: Final = re.compile(r"^-- name:[ \t]*([a-z][a-z0-9_]*)", re.MULTILINE)


def columns(path: PurePosixPath, text: str) -> Iterator[str]:
    """No line of code is wider than 100 columns."""
    if path.suffix not in COLUMN_SUFFIXES:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > COLUMNS_MAX:
            yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS_MAX}"


def unfinished_marks(path: PurePosixPath, text: str) -> Iterator[str]:
    """Code is finished, and no line hides from the coverage report."""
    if path.suffix in CODE_SUFFIXES and path.name != "LICENSE":
        yield from _matches(path, text, _UNFINISHED, "is an unfinished mark; finish it or drop it")


def skip_marks(path: PurePosixPath, text: str) -> Iterator[str]:
    """Nothing skips silently: only `require_service` may skip, and never in CI."""
    if path.suffix == ".py" and path != SKIP_ALLOWED_IN:
        yield from _matches(path, text, _SKIP, "skips a test; use require_service instead")


def hosts_and_machine_paths(path: PurePosixPath, text: str) -> Iterator[str]:
    """No file names the host of a package registry or a folder of one machine.

    Sample input may name folders: a crontab in tests/cases/ has some in its commands.
    """
    yield from _matches(path, text, _HOST, "is a registry's host; name the package only")
    if path.parts[:2] not in SAMPLE_FOLDERS:
        yield from _matches(path, text, _MACHINE_PATH, "is a path of one machine; make it relative")


def links(path: PurePosixPath, text: str, *, root: Path) -> Iterator[str]:
    """Every relative link of a page leads to a file inside the repository."""
    if path.suffix != ".md":
        return
    prose = _CODE_SPAN.sub(_blank, _FENCE.sub(_blank, text))
    for match in _LINK.finditer(prose):
        target = match[1].split("#")[0]
        if not target or re.match(r"[a-z][a-z+.-]*:", target):
            continue
        where = (root / path.parent / target).resolve()
        if not where.is_relative_to(root.resolve()):
            yield f"{path}:{_line(prose, match)}: {match[1]} leads out of the repository"
        elif not where.exists():
            yield f"{path}:{_line(prose, match)}: {match[1]} does not exist"


def sql_names(path: PurePosixPath, text: str) -> Iterator[str]:
    """Every statement of a SQL file under schemas/ stands below a name of its own.

    Migrations are exempt: each is run whole, and its file is its name.
    """
    if path.parts[0] != "schemas" or path.suffix != ".sql" or "migrations" in path.parts:
        return
    names = _SQL_NAME.findall(text)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{path}: the name {name} stands twice"
    before = _SQL_NAME.split(text, maxsplit=1)[0]
    unnamed = [line for line in before.splitlines() if line.strip() and not line.startswith("--")]
    if unnamed or not names:
        yield f"{path}: SQL without a name; put `-- name: <verb>_<noun>` above it"


def _matches(
    path: PurePosixPath, text: str, pattern: re.Pattern[str], complaint: str
) -> Iterator[str]:
    for match in pattern.finditer(text):
        yield f"{path}:{_line(text, match)}: {match[0]} {complaint}"


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


def _blank(match: re.Match[str]) -> str:
    """The same number of lines with nothing on them, so that line numbers stay right."""
    return "\n" * match[0].count("\n")
