"""A strict reader of YAML: one document, text keys, no repetition, and a line for every part.

Reads libyaml's events instead of its values, so that a repeated key is seen, an anchor is refused
before it can multiply, and every field keeps its place for the error that may come later.
"""

import re
from dataclasses import dataclass, field
from typing import Final

import yaml

from control_api.manifests.problems import ManifestErrors, Mark, Problem
from control_api.manifests.yaml_scalars import Scalar, UnclearScalar, plain_scalar
from scheduling.limits import (
    ECHO_CHARS_MAX,
    MANIFEST_BYTES_MAX,
    MANIFEST_DEPTH_MAX,
    MANIFEST_VALUES_MAX,
    PROBLEMS_TOLD_MAX,
)
from schemas.refusals import shown_key

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_ALIAS_REMEDY: Final = (
    "YAML anchors and aliases are not read; a schedule that starts with `*` must be quoted, "
    'as in "*/5 * * * *", and values that many triggers share belong under `defaults:`'
)
_PAYLOAD: Final = "payload"
_SYNTAX_REMEDIES: Final = (
    ("alphabetic or numeric character", _ALIAS_REMEDY),
    ("mapping values are not allowed", "quote a value that holds `: `, and check the indentation"),
    ("could not find expected ':'", "every line needs `key: value`; check the indentation"),
    ("did not find expected key", "the indentation does not match the lines above"),
    ("expected ',' or", "close the list or the mapping; quote a value that holds a comma"),
    ("unexpected end of stream", "this quote is never closed"),
)


@dataclass(slots=True)
class Node:
    """One part of the document: a scalar, a list of nodes or a mapping of nodes.

    mark:  where the value starts
    keys:  where each key of a mapping stands
    """

    mark: Mark
    value: Scalar | list["Node"] | dict[str, "Node"]
    keys: dict[str, Mark] = field(default_factory=dict)

    def plain(self) -> object:
        """The value without its marks, as the JSON types."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


@dataclass(slots=True)
class _Frame:
    node: Node
    key: str | None = None
    is_key_expected: bool = True
    count: int = 0


def read_tree(text: str | bytes, *, name: str) -> tuple[Node, list[Problem]]:
    """The document's tree, and the problems that left the tree usable.

    Raises ManifestErrors where there is no tree: encoding, size, syntax, no or many documents, and
    where there are more problems than are told at once.
    """
    source = _decoded(text, name)
    reader = _Reader(name)
    try:
        for event in yaml.parse(source, Loader=yaml.CSafeLoader):
            reader.take(event)
    except yaml.YAMLError as error:
        problems = [*reader.problems, _syntax_problem(error, source)]
        raise ManifestErrors(name, problems, reader.left_out) from None
    if reader.left_out:
        raise ManifestErrors(name, reader.problems, reader.left_out)
    if reader.root is None or reader.root.value is None:
        raise ManifestErrors(name, [Problem(1, 1, "", "the file is empty: start with `tenants:`")])
    return reader.root, reader.problems


def echoed(text: str) -> str:
    """A piece of the file as a message may show it."""
    return repr(text if len(text) <= ECHO_CHARS_MAX else text[: ECHO_CHARS_MAX - 3] + "...")


class _Reader:
    """Builds the tree from events. State: the open collections, and the problems so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self.left_out = 0
        self._frames: list[_Frame] = []
        self._values = 0

    def take(self, event: yaml.Event) -> None:
        start = event.start_mark
        mark = Mark(start.line + 1, start.column + 1) if start else Mark(1, 1)
        if isinstance(event, yaml.ScalarEvent):
            self._refuse_decorations(event, mark)
            self._take_scalar(event, mark)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._refuse_decorations(event, mark)
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self._open(Node(mark, {} if is_mapping else []))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._frames.pop()
        elif isinstance(event, yaml.AliasEvent):
            self._stop(mark, _ALIAS_REMEDY)
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            self._stop(mark, "a second document starts here: keep one, or write two files")

    def _take_scalar(self, event: yaml.ScalarEvent, mark: Mark) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.node.value, dict) and frame.is_key_expected:
            frame.key = self._key(frame.node, event, mark)
            frame.is_key_expected = False
        else:
            self._attach(Node(mark, self._value(event, mark)))

    def _open(self, node: Node) -> None:
        if len(self._frames) >= MANIFEST_DEPTH_MAX:
            self._stop(node.mark, f"nested deeper than {MANIFEST_DEPTH_MAX} levels")
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.node.value, dict) and frame.is_key_expected:
            self._stop(node.mark, "a key must be text, not a list or a mapping: quote it")
        self._attach(node)
        self._frames.append(_Frame(node))

    def _attach(self, node: Node) -> None:
        self._values += 1
        if self._values > MANIFEST_VALUES_MAX:
            self._stop(node.mark, f"at most {MANIFEST_VALUES_MAX:,} values: split it by tenant")
        if not self._frames:
            self.root = node
            return
        frame = self._frames[-1]
        frame.count += 1
        if isinstance(frame.node.value, list):
            frame.node.value.append(node)
        elif isinstance(frame.node.value, dict):
            if frame.key is not None:
                frame.node.value[frame.key] = node
            frame.is_key_expected = True

    def _key(self, node: Node, event: yaml.ScalarEvent, mark: Mark) -> str | None:
        """The key, or None where it is refused and its value is to be dropped."""
        text = str(event.value)
        if text == "<<" and not event.style:
            self._add(mark, "merge keys (`<<`) are not read: use `defaults:`")
            return None
        if not event.style and not _is_text_key(text):
            self._add(mark, f"the key {self._shown(text)} does not read as text: quote it")
            return None
        if text in node.keys:
            first = node.keys[text].line
            shown = self._shown(text)
            self._add(mark, f"{shown} stands here again; it is already on line {first}")
            return None
        node.keys[text] = mark
        return text

    def _value(self, event: yaml.ScalarEvent, mark: Mark) -> Scalar:
        text = str(event.value)
        if event.style or event.tag == "tag:yaml.org,2002:str" or event.tag == "!":
            return text
        try:
            return plain_scalar(text)
        except UnclearScalar as unclear:
            self._add(mark, str(unclear))
            return text

    def _refuse_decorations(self, event: yaml.NodeEvent, mark: Mark) -> None:
        if event.anchor is not None:
            self._stop(mark, _ALIAS_REMEDY)
        tag = getattr(event, "tag", None)
        if tag not in (None, "!", "tag:yaml.org,2002:str"):
            self._add(mark, "YAML tags (`!...`) are not read: remove it")

    def _path(self) -> str:
        """The dotted place of what is being read; an open collection is already attached."""
        parts: list[str] = []
        is_inside = False
        for frame in self._frames:
            is_last = frame is self._frames[-1]
            if isinstance(frame.node.value, list):
                parts.append(str(frame.count if is_last else frame.count - 1))
            elif not is_last or not frame.is_key_expected:
                key = "?" if frame.key is None else frame.key
                parts.append(shown_key(key) if is_inside else key)
            is_inside = is_inside or frame.key == _PAYLOAD
        return ".".join(parts)

    def _shown(self, key: str) -> str:
        """A key as a message may show it: one of a payload may be as secret as its values."""
        is_inside = any(frame.key == _PAYLOAD for frame in self._frames)
        return repr(shown_key(key)) if is_inside else echoed(key)

    def _add(self, mark: Mark, message: str) -> None:
        if len(self.problems) >= PROBLEMS_TOLD_MAX:
            self.left_out += 1
            return
        self.problems.append(Problem(mark.line, mark.column, self._path(), message))

    def _stop(self, mark: Mark, message: str) -> None:
        self._add(mark, message)
        raise ManifestErrors(self.name, self.problems, self.left_out)


def _is_text_key(text: str) -> bool:
    """`on:` and `no:` were meant as words by whoever wrote them as keys."""
    try:
        return isinstance(plain_scalar(text), str)
    except UnclearScalar:
        return text.isalpha()


def _decoded(text: str | bytes, name: str) -> str:
    if len(text) > MANIFEST_BYTES_MAX:
        raise ManifestErrors(name, [Problem(1, 1, "", _size_message(len(text)))])
    if isinstance(text, bytes):
        text = _utf8(text, name)
    text = text.removeprefix("\ufeff")
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        column = control.start() - text.rfind("\n", 0, control.start())
        message = f"control character U+{ord(control[0]):04X}: remove it, or write it escaped"
        raise ManifestErrors(name, [Problem(line, column, "", message)])
    return text


def _utf8(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        message = "not UTF-8: save the file as UTF-8"
        raise ManifestErrors(name, [Problem(line, column, "", message)]) from None


def _size_message(size_bytes: int) -> str:
    return (
        f"the file holds {size_bytes:,} bytes and the limit is {MANIFEST_BYTES_MAX:,}: "
        "split it by tenant"
    )


def _syntax_problem(error: yaml.YAMLError, source: str) -> Problem:
    """libyaml's complaint with our remedy. Its text names rules and never quotes the file."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return Problem(1, 1, "", "not YAML: save the file as UTF-8 text")
    complaint, place = str(error.problem), error.problem_mark
    if "end of stream" in complaint and error.context_mark is not None:
        place = error.context_mark
    remedy = next((remedy for sign, remedy in _SYNTAX_REMEDIES if sign in complaint), "")
    if "cannot start any token" in complaint:
        remedy = _start_remedy(source, place.line, column=place.column)
    message = f"not YAML: {complaint}" + (f"; {remedy}" if remedy else "")
    return Problem(place.line + 1, place.column + 1, "", message)


def _start_remedy(source: str, line: int, *, column: int) -> str:
    lines = source.splitlines()
    character = lines[line][column : column + 1] if line < len(lines) else ""
    if character == "\t":
        return "this is a tab: indent with blanks"
    return f'a value that starts with {character!r} must be quoted, as in "@daily"'
