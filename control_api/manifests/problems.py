"""What is wrong with a file that a person wrote: every problem at once, each with its line."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from scheduling.limits import PROBLEMS_TOLD_MAX
from schemas.printable import printable

_SECRET: Final = re.compile(r"whsec_[A-Za-z0-9+/=_-]+")
_PATH_CHARS_MAX: Final = 400  # two names and the words between them fit


class Mark(NamedTuple):
    """A place in a file; both count from 1."""

    line: int
    column: int


class Problem(NamedTuple):
    """One thing to mend. `path` is the dotted field, empty where the whole file is meant."""

    line: int
    column: int
    path: str
    message: str

    def redacted(self) -> "Problem":
        """Without what looks like a signing secret, wherever a slip has put it."""
        path, message = _SECRET.sub("whsec_...", self.path), _SECRET.sub("whsec_...", self.message)
        return self._replace(path=path, message=message)

    @property
    def shown_path(self) -> str:
        """As a message may show it: a key may be anything."""
        path = printable(self.path)
        return path if len(path) <= _PATH_CHARS_MAX else f"{path[:_PATH_CHARS_MAX]}..."

    def text(self, name: str) -> str:
        field = f"{self.shown_path}: " if self.path else ""
        return printable(f"{name}:{self.line}:{self.column}: {field}{self.message}")


class ManifestErrors(Exception):
    """A manifest was refused; nothing of it was used.

    problems: all of them in the order of the file, at most PROBLEMS_TOLD_MAX
    left_out: how many more there were
    No message holds a secret, a payload or more than 40 characters of the file.
    """

    def __init__(self, name: str, problems: Iterable[Problem], left_out: int = 0) -> None:
        ordered = sorted({problem.redacted() for problem in problems})
        self.name = name
        self.problems = tuple(ordered[:PROBLEMS_TOLD_MAX])
        self.left_out = left_out + len(ordered) - len(self.problems)
        super().__init__(name, self.problems, self.left_out)

    def __str__(self) -> str:
        lines = [problem.text(self.name) for problem in self.problems]
        if self.left_out:
            lines.append(f"{self.name}: and {self.left_out:,} more problems")
        return "\n".join(lines)
