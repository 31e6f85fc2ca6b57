"""Pages of Markdown as plays: blocks that a reader sees, and hidden cues that set the scene.

A cue is a comment of HTML, `<!-- play: until 2026-12-01T09:00:10+01:00 -->`; what there is stands
in `document_cues`. A block of `console` holds commands after `$ ` and what each prints; a block of
`http` holds a request or an answer. A line that is only `…` stands for lines that are left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt

ELLIPSIS: Final = "…"
PROMPT: Final = "$ "
CONTINUED: Final = "> "
_CUE: Final = re.compile(r"<!--\s*play:\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is that of its fence, counted from 1."""

    line: int
    language: str
    content: str


@dataclass(frozen=True, slots=True)
class Cue:
    """A hidden direction: its words, and the line where its comment begins."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A command as a person types it, all its lines joined, and what stands below it.

    typed:  the lines as they stand
    """

    typed: str
    command: str
    output: str


def parts_of(text: str) -> list[Block | Cue]:
    """What is played, from top to bottom."""
    parts: list[Block | Cue] = []
    for token in MarkdownIt("commonmark").parse(text):
        first = (token.map or [0])[0]
        if token.type == "fence":
            assert token.level == 0, f"line {first + 1}: a block inside a list cannot be played"
            language = token.info.split()[0] if token.info.strip() else ""
            parts.append(Block(first + 1, language, token.content))
        elif token.type == "html_block":
            for match in _CUE.finditer(token.content):
                line = first + 1 + token.content.count("\n", 0, match.start())
                parts.append(Cue(line, match[1]))
    return parts


def exchanges_of(block: Block) -> list[Exchange]:
    """The commands of a block of `console`. Lines after `> ` go on with the command above."""
    groups: list[tuple[list[str], list[str]]] = []
    for line in block.content.splitlines():
        if line.startswith(PROMPT):
            groups.append(([line], []))
            continue
        assert groups, f"line {block.line + 1}: a block of console begins with `$ ` and a command"
        typed, output = groups[-1]
        (typed if line.startswith(CONTINUED) and not output else output).append(line)
    return [_exchange(typed, output) for typed, output in groups]


def _exchange(typed: Sequence[str], output: Sequence[str]) -> Exchange:
    command = "\n".join(line[len(PROMPT) :] for line in typed)
    return Exchange("\n".join(typed), command, "\n".join(output))


def agrees(written: str, actual: str) -> bool:
    """Whether what stands there is what came, where `…` stands for one line or more."""
    pattern = "\n".join(
        r"[^\n]*(?:\n[^\n]*)*" if line.strip() == ELLIPSIS else re.escape(line)
        for line in written.splitlines()
    )
    return re.fullmatch(pattern, "\n".join(actual.splitlines())) is not None


def rewritten(text: str, contents: Mapping[int, str]) -> str:
    """The page with other contents in the blocks whose fences stand on these lines."""
    lines = text.splitlines(keepends=True)
    blocks = [part for part in parts_of(text) if isinstance(part, Block)]
    for block in reversed(blocks):
        if block.line in contents:
            end = block.line + block.content.count("\n")
            lines[block.line : end] = [contents[block.line]]
    return "".join(lines)


def blocks_of(text: str, *languages: str) -> Iterator[Block]:
    """The blocks in these languages."""
    for part in parts_of(text):
        if isinstance(part, Block) and part.language in languages:
            yield part
