"""The project's own files: what is committed, and what would be by `git add`."""

import subprocess
import tomllib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]


@cache
def repository_files() -> tuple[PurePosixPath, ...]:
    """The files that git holds or would add, relative to the root, without deleted ones."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = sorted(name for name in listing.split("\0") if name)
    return tuple(PurePosixPath(name) for name in names if (ROOT / name).is_file())


@cache
def text_of(path: PurePosixPath) -> str | None:
    """The file's text; None where it is not UTF-8."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def pyproject() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def top_level_packages() -> frozenset[str]:
    """Names of the folders in the root that hold an `__init__.py`."""
    return frozenset(
        path.parts[0]
        for path in repository_files()
        if len(path.parts) == 2 and path.name == "__init__.py" and path.parts[0] != "tests"
    )
