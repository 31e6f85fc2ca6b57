"""Manifest files on this machine: read, their secrets filled in, and problems at their lines."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from control_api.manifests.manifest import check_root
from control_api.manifests.problems import ManifestErrors, Mark, Problem
from control_api.manifests.secrets import fill_secrets
from control_api.manifests.shapes import Report, Section, place_of
from control_api.manifests.yaml_tree import read_tree
from ports.errors import StoreRefused
from scheduling.limits import MANIFEST_BYTES_MAX
from schemas.api.apply import ManifestIn
from schemas.printable import printable

STDIN: Final = "-"
_STDIN_NAME: Final = "stdin"
_START: Final = Mark(1, 1)


class ManifestsRefused(Exception):
    """Manifests were refused whole; a line for each problem."""


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A file's tree with its secrets, and what is wrong with it as a file."""

    name: str
    root: Section
    problems: tuple[Problem, ...]

    @property
    def tenants(self) -> Any:
        """What the API is to judge."""
        tenants = self.root.child("tenants")
        return {} if tenants is None else tenants.node.plain()

    def manifest(self) -> ManifestIn:
        """As the API takes it in this process."""
        return ManifestIn(name=self.name, tenants=self.tenants)

    def problem_at(self, path: str, message: str) -> Problem:
        """At the deepest place of the dotted path that the file has."""
        return Problem(*place_of(self.root, path), path, message)


def read_manifest_file(
    text: bytes,
    *,
    name: str,
    folder: Path | None,
    environment: Mapping[str, str] = os.environ,
) -> ManifestFile:
    """ManifestErrors where the text is no tree of YAML at all.

    folder:  where its relative `secret_file`s start; None for what comes from stdin
    """
    root, problems = read_tree(text, name=name)
    section = Section(root, "", "", _START)
    report = Report(problems)
    if check_root(section, report=report):
        found = fill_secrets(section, environment=environment, folder=folder)
        for each in found:
            report.add(Mark(each.line, each.column), each.path, each.message)
    return ManifestFile(name, section, tuple(report.problems))


def read_manifest_files(
    paths: Sequence[Path], *, stdin: BinaryIO | None = None
) -> list[ManifestFile]:
    """All of them. ManifestsRefused with what is wrong with those that are no YAML.

    stdin:  what `-` stands for, where it may be given
    """
    files, refused = [], []
    for path in paths:
        try:
            if stdin is not None and str(path) == STDIN:
                text = stdin.read(MANIFEST_BYTES_MAX + 1)
                file = read_manifest_file(text, name=_STDIN_NAME, folder=None)
            else:
                file = read_manifest_file(_text(path), name=str(path), folder=path.parent)
        except ManifestErrors as errors:
            refused.append(str(errors))
        else:
            files.append(file)
    if refused:
        raise ManifestsRefused("\n".join(refused))
    return files


def _text(path: Path) -> bytes:
    """At most one byte more than a manifest may have, so that the size is what is refused."""
    try:
        with path.open("rb") as file:
            return file.read(MANIFEST_BYTES_MAX + 1)
    except OSError as error:
        raise StoreRefused(f"manifest: {path} cannot be read: {error.strerror}") from error


def problem_lines(files: Sequence[ManifestFile], fields: Mapping[str, str]) -> list[str]:
    """The files' own problems and the API's, `file:line:column: path: what`, in their order.

    A problem that is of no file comes last, as it is.
    """
    found: dict[str, list[Problem]] = {file.name: list(file.problems) for file in files}
    others = []
    for field, message in fields.items():
        file, path = _of_file(files, field)
        if file is None:
            others.append(printable(f"{field}: {message}"))
        elif path not in {each.path for each in file.problems}:
            found[file.name].append(file.problem_at(path, message))
    lines = [str(ManifestErrors(name, problems)) for name, problems in found.items() if problems]
    return [*lines, *others]


def _of_file(files: Sequence[ManifestFile], field: str) -> tuple[ManifestFile | None, str]:
    """The file that a problem is of, and its path there."""
    for file in files:
        prefix = "" if len(files) == 1 else f"{file.name}:"
        path = field.removeprefix(prefix)
        if field.startswith(prefix) and path.partition(".")[0] == "tenants":
            return file, path
    return None, field
