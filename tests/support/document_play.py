"""Playing a page: every command of it runs, and what came stands beside what is written."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from dispatcher.dispatcher import delivery_of
from dispatcher.envelope import body, headers
from scheduling.instants import SECOND_US
from tests.support.document_cues import direct, instant_us
from tests.support.document_shell import Shell, answer_text, indented
from tests.support.document_stage import staged
from tests.support.documents import Block, Cue, agrees, exchanges_of, parts_of
from tests.support.stand_ins import StandIns

PLAYED: Final = ("console", "http")


class Played(NamedTuple):
    """A block, and what it holds when it is true; `problem` is what no rewriting mends."""

    block: Block
    actual: str
    problem: str | None = None

    @property
    def is_true(self) -> bool:
        return self.problem is None and agrees(self.block.content, self.actual)


def play(text: str) -> list[Played]:
    """Every block of console and http of a page. AssertionError names the line of a fault."""
    parts = parts_of(text)
    (starts,) = [
        each for each in parts if isinstance(each, Cue) and each.text.startswith("starts ")
    ]
    with (
        TemporaryDirectory() as folder,
        staged(Path(folder), starts_us=instant_us(starts.text.removeprefix("starts "))) as stage,
    ):
        performance = _Performance(Shell(stage))
        return [played for part in parts if part != starts for played in performance.next(part)]


def complaints(path: str, text: str) -> list[str]:
    """A difference for each block of a page that is not true."""
    return [_difference(path, played) for played in play(text) if not played.is_true]


def _difference(path: str, played: Played) -> str:
    lines = difflib.unified_diff(
        played.block.content.splitlines(),
        played.actual.splitlines(),
        f"{path}:{played.block.line} says",
        "what came",
        lineterm="",
    )
    told = [] if played.problem is None else [f"{path}:{played.block.line}: {played.problem}"]
    return "\n".join((*told, *lines))


@dataclass(slots=True)
class _Performance:
    shell: Shell
    stand_ins: StandIns = field(default_factory=StandIns)
    block: Block | None = None
    fails: bool = False

    def next(self, part: Block | Cue) -> Iterator[Played]:
        if isinstance(part, Cue):
            self._direct(part)
            return
        self.block = part
        if part.language == "console":
            yield self._console(part)
        elif part.language == "http":
            is_request = part.content.startswith("POST ")
            text = self._request() if is_request else self._answer()
            yield Played(part, self.stand_ins.hide(text))

    def _direct(self, cue: Cue) -> None:
        verb, _, name = cue.text.partition(" ")
        if cue.text == "fails":
            self.fails = True
        elif verb == "file":
            assert self.block is not None, f"line {cue.line}: no block stands above"
            (self.shell.stage.folder / name).write_text(self.block.content)
        elif verb == "attempt-token":
            service = self.shell.stage.service
            assert service is not None
            self.shell.variables[name] = service.target.receipts[-1].token
        else:
            direct(self.shell.stage, cue.text)

    def _console(self, block: Block) -> Played:
        texts, problems = [], []
        exchanges = exchanges_of(block)
        for at, exchange in enumerate(exchanges):
            printed = self.shell.run(self.stand_ins.reveal(exchange.command))
            wanted = self.fails and at == len(exchanges) - 1
            if (printed.code != 0) != wanted:
                problems.append(f"`{exchange.command}` ended with {printed.code}")
            texts.append(exchange.typed + "\n" + self.stand_ins.hide(printed.output))
        self.fails = False
        return Played(block, "".join(texts), "; ".join(problems) or None)

    def _answer(self) -> str:
        assert self.shell.answer is not None, "no request went before"
        return answer_text(self.shell.answer)

    def _request(self) -> str:
        """The newest attempt as it reached the target."""
        service = self.shell.stage.service
        assert service is not None
        receipt = service.target.receipts[-1]
        delivery = delivery_of(receipt.fire, token=receipt.token)
        content = body(delivery)
        sent = headers(delivery, content, timestamp_s=receipt.at_us // SECOND_US)
        lines = [f"{name}: {value}" for name, value in sent.items()]
        return "\n".join(("POST / HTTP/1.1", *lines, "", indented(content), ""))
