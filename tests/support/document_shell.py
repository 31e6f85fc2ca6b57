"""The little shell of a page: `punctual`, `curl` and `cat`, variables and `$(cat FILE)`.

Each command prints what it would print into a pipe, stdout and stderr as they come.
"""

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from click.testing import CliRunner

from punctual.cli import cli
from punctual.transports import Answer, NoAnswer
from tests.support.document_stage import TOLD, Stage

_ASSIGNMENT: Final = re.compile(r"([A-Z_][A-Z0-9_]*)=(.*)", re.DOTALL)
_CONTENT: Final = re.compile(r"\$\(cat ([\w./-]+)\)")
_VARIABLE: Final = re.compile(r"\$\{?([A-Z_][A-Z0-9_]*)\}?")
# Not those of the standard library: some have other words from one Python to the next.
_REASONS: Final = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    428: "Precondition Required",
    429: "Too Many Requests",
    503: "Service Unavailable",
}


class Printed(NamedTuple):
    """What a command printed, and how it ended."""

    output: str
    code: int


@dataclass(slots=True)
class Shell:
    """Runs command lines on a stage; `variables` are those that were exported."""

    stage: Stage
    variables: dict[str, str] = field(default_factory=dict)
    answer: Answer | None = None

    def run(self, line: str) -> Printed:
        """One command line, perhaps of several lines. ValueError for what this shell has not."""
        words = shlex.split(self._expanded(line.replace("\\\n", " ")), comments=True)
        local = {}
        while words and (match := _ASSIGNMENT.fullmatch(words[0])):
            local[match[1]] = match[2]
            words = words[1:]
        if words[:1] == ["export"]:
            self.variables |= dict(each.split("=", 1) for each in words[1:])
            return Printed("", 0)
        return self._call(words, self.variables | local)

    def _expanded(self, line: str) -> str:
        """Variables and files hold nothing that would have to be quoted."""
        line = _CONTENT.sub(lambda match: (self.stage.folder / match[1]).read_text().strip(), line)
        known = {"PUNCTUAL_SERVER": TOLD.url, **self.variables}
        return _VARIABLE.sub(lambda match: known[match[1]], line)

    def _call(self, words: Sequence[str], variables: dict[str, str]) -> Printed:
        program, *arguments = words
        if program.rpartition("/")[2] == "punctual":
            return self._punctual(arguments, variables)
        if program == "curl":
            return self._curl(arguments)
        if program == "cat":
            return Printed((self.stage.folder / arguments[0]).read_text(), 0)
        raise ValueError(f"{program}: the shell of the pages has no such program")

    def _punctual(self, arguments: Sequence[str], variables: dict[str, str]) -> Printed:
        environment: dict[str, str | None] = {
            name: None for name in os.environ if name.startswith("PUNCTUAL_")
        }
        result = CliRunner(env={**environment, **variables, "COLUMNS": "100"}).invoke(
            cli, list(arguments), prog_name="punctual"
        )
        is_interrupted = "--follow" in arguments
        return Printed(result.output + ("^C\n" if is_interrupted else ""), result.exit_code)

    def _curl(self, arguments: Sequence[str]) -> Printed:
        request = _request(arguments)
        try:
            self.answer = answer = self.stage.send(
                request.method, request.target, body=request.body, headers=request.headers
            )
        except NoAnswer as lost:
            return Printed(f"curl: (7) {lost}\n", 7)
        return Printed("" if request.is_shown_below else answer.body.decode(), 0)


class _Request(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None
    is_shown_below: bool


def _request(arguments: Sequence[str]) -> _Request:
    """Of curl's options: -i, whose answer stands in a block of http below, -X, -H and --json."""
    method, url, body = "", "", None
    headers: dict[str, str] = {}
    is_shown_below = False
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "-i":
            is_shown_below = True
        elif word == "-X":
            method = left.pop(0)
        elif word == "-H":
            name, _, value = left.pop(0).partition(":")
            headers[name.strip()] = value.strip()
        elif word == "--json":
            body = left.pop(0).encode()
            headers |= {"Content-Type": "application/json", "Accept": "application/json"}
        elif word.startswith("-"):
            raise ValueError(f"curl {word}: the shell of the pages has no such option")
        else:
            url = word
    parts = urlsplit(url)
    if f"{parts.scheme}://{parts.netloc}" != TOLD.url:
        raise ValueError(f"{url!r}: only {TOLD.url} is served")
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return _Request(
        method or ("GET" if body is None else "POST"), target, headers, body, is_shown_below
    )


def answer_text(answer: Answer) -> str:
    """An answer as pages show it: its body indented, and so without its length."""
    lines = [f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}"]
    lines += [
        f"{name}: {value}" for name, value in answer.headers.items() if name != "content-length"
    ]
    return "\n".join((*lines, "", indented(answer.body), ""))


def indented(body: bytes) -> str:
    """JSON as people read it."""
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
