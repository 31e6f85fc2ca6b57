"""A part of the tree against its model: pydantic's findings in our words, at the file's lines."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from control_api.manifests.problems import Mark, Problem
from control_api.manifests.yaml_tree import Node
from scheduling.limits import PROBLEMS_TOLD_MAX, UNKNOWN_KEYS_TOLD_MAX
from schemas.refusals import keys_of, message_of, model_under, shown_key, unknown_key

Spec = TypeVar("Spec", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the tree with its key, its dotted path and the place of its key."""

    node: Node
    name: str
    path: str
    mark: Mark

    def keeping(self, keys: Set[str]) -> "Section":
        """The same place with only these keys."""
        if not isinstance(self.node.value, dict):
            return self
        kept = {key: node for key, node in self.node.value.items() if key in keys}
        marks = {key: self.node.keys[key] for key in kept}
        return replace(self, node=Node(self.node.mark, kept, marks))

    def child(self, key: str) -> "Section | None":
        if not isinstance(self.node.value, dict) or key not in self.node.value:
            return None
        return Section(self.node.value[key], key, _joined(self.path, key), self.node.keys[key])

    def blamed(self, key: str, defaults: "Defaults | None") -> tuple[Mark, str]:
        """The place and the path of a key at fault, which may stand in the defaults or nowhere."""
        place = self.child(key) or (defaults and defaults.section.child(key))
        return (place.mark, place.path) if place else (self.mark, _joined(self.path, key))

    def children(self) -> "list[Section]":
        """The members of a mapping; none of anything else."""
        found = [self.child(key) for key in self.node.keys]
        return [each for each in found if each is not None]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the sections of one kind have in common, and its values, made once for all of them."""

    section: Section
    values: Mapping[str, object]


@dataclass(slots=True)
class Report:
    """The first problems; a place that is already reported is not reported in other words.

    left_out:  how many more there were: they are not even put into words, which takes time
    """

    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0
    _paths: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._paths.update(problem.path for problem in self.problems)

    def add(self, mark: Mark, path: str, message: str | Callable[[], str]) -> None:
        if path in self._paths:
            return
        self._paths.add(path)
        if len(self.problems) >= PROBLEMS_TOLD_MAX:
            self.left_out += 1
            return
        text = message if isinstance(message, str) else message()
        self.problems.append(Problem(mark.line, mark.column, path, text))


def validated(
    model: type[Spec],
    section: Section,
    *,
    report: Report,
    defaults: Defaults | None = None,
    fillers: Mapping[str, object] | None = None,
) -> Spec | None:
    """The section as a record, or None with every finding reported.

    defaults: a key that the section leaves out is taken from here, and is blamed here
    fillers:  stand in for refused keys, so that the others can still be judged in a file that is
              refused anyway
    """
    if not expect_mapping(section, report=report):
        return None
    own, is_known = known_values(model, section, report=report)
    values = {**defaults.values, **own} if defaults is not None else own
    findings: list[Any] = []
    try:
        found = model.model_validate(values)
    except ValidationError as error:
        findings = list(error.errors(include_url=False, include_input=False))
    else:
        if is_known:
            return found
    for finding in findings:
        source = _source_of(finding["loc"], section, defaults)
        mark, path = _place(source, finding["loc"])
        report.add(mark, path, message_of(model, finding))
    return None if fillers is None else _filled(model, values, findings, fillers)


def known_values(
    model: type[BaseModel], section: Section, *, report: Report
) -> tuple[dict[str, object], bool]:
    """What the section gives the model, and whether that is all of it; the rest is reported.

    A mapping of a million unknown keys would make pydantic find as many faults.
    """
    is_known = refuse_unknown(section, keys_of(model), report=report)
    values: dict[str, object] = {}
    for each in section.children():
        inner = model_under(model, each.name)
        if inner is not None and isinstance(each.node.value, dict):
            values[each.name], is_whole = known_values(inner, each, report=report)
            is_known = is_known and is_whole
        elif each.name in keys_of(model):
            values[each.name] = each.node.plain()
    return values, is_known


def refuse_unknown(section: Section, known: frozenset[str], *, report: Report) -> bool:
    """Whether the mapping has no other keys; the first of them are reported, the rest counted."""
    unknown = [key for key in section.node.keys if key not in known]
    for key in unknown[:UNKNOWN_KEYS_TOLD_MAX]:
        path = _joined(section.path, shown_key(key))
        report.add(section.node.keys[key], path, partial(unknown_key, key, known))
    report.left_out += len(unknown[UNKNOWN_KEYS_TOLD_MAX:])
    return not unknown


def _filled(
    model: type[Spec],
    values: Mapping[str, object],
    findings: Iterable[Mapping[str, Any]],
    fillers: Mapping[str, object],
) -> Spec | None:
    refused = {str(finding["loc"][0]) if finding["loc"] else "" for finding in findings}
    sound = {key: value for key, value in values.items() if key not in refused}
    try:
        return model.model_validate({**fillers, **sound})
    except ValidationError:  # the keys contradict each other, which is reported already
        return None


def place_of(root: Section, path: str) -> Mark:
    """The deepest place of a dotted path that the tree has. Names may hold dots themselves."""
    mark, node = root.mark, root.node
    while path:
        if isinstance(node.value, dict):
            keys = [key for key in node.keys if path == key or path.startswith(f"{key}.")]
            if not keys:
                break
            key = max(keys, key=len)
            mark, node, path = node.keys[key], node.value[key], path[len(key) + 1 :]
        elif isinstance(node.value, list):
            step, _, path = path.partition(".")
            if not step.isdigit() or int(step) >= len(node.value):
                break
            node = node.value[int(step)]
            mark = node.mark
        else:
            break
    return mark


def expect_mapping(section: Section, *, report: Report) -> bool:
    """Whether the section is a mapping; an empty key is told apart from an empty mapping."""
    if isinstance(section.node.value, dict):
        return True
    message = "write a mapping of keys and values"
    if section.node.value is None:
        message = "nothing stands here: write keys under it, or remove it"
    report.add(section.mark, section.path, message)
    return False


def _source_of(loc: Sequence[int | str], section: Section, defaults: Defaults | None) -> Section:
    is_own = not loc or section.child(str(loc[0])) is not None
    if is_own or defaults is None or defaults.section.child(str(loc[0])) is None:
        return section
    return defaults.section


def _place(section: Section, loc: Sequence[int | str]) -> tuple[Mark, str]:
    """The deepest place of the location that the file has; a missing key is its parent's."""
    mark, path, node = section.mark, section.path, section.node
    for step in loc:
        path = _joined(path, str(step))
        if isinstance(node.value, dict) and str(step) in node.value:
            mark, node = node.keys[str(step)], node.value[str(step)]
        elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.mark
    return mark, path


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
