"""Finds the signing secrets that a manifest's targets keep elsewhere, where the manifest is."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from control_api.manifests.problems import Problem
from control_api.manifests.shapes import Section
from control_api.manifests.yaml_tree import Node
from schemas.manifest import TargetSpec
from schemas.signing_secrets import check_secret

_FILE_BYTES_MAX: Final = 4_096
_SOURCES: Final = ("secret_env", "secret_file")


class SecretError(ValueError):
    """A secret could not be read or is none; the message never holds it."""


def fill_secrets(
    root: Section, *, environment: Mapping[str, str], folder: Path | None
) -> list[Problem]:
    """Put each `whsec_` text into the tree in place of where it lies; what fails is told.

    environment:  where `secret_env` is looked up
    folder:       where a relative `secret_file` starts, the manifest's own; None where it has none
    Whatever the reader will refuse anyway is left to it.
    """
    problems: list[Problem] = []
    for target in list(_targets(root)):
        source = _source(target)
        if source is None:
            continue
        members, keys = target.node.value, target.node.keys
        assert isinstance(members, dict)  # noqa: S101 - what has a child is a mapping
        try:
            secret = _read(source, environment=environment, folder=folder)
        except SecretError as error:
            problems.append(Problem(*source.mark, source.path, str(error)))
        else:
            keys["secret"] = source.mark
            members["secret"] = Node(source.node.mark, secret)
        del members[source.name], keys[source.name]
    return problems


def _targets(root: Section) -> Iterator[Section]:
    tenants = root.child("tenants")
    for tenant in tenants.children() if tenants else ():
        targets = tenant.child("targets")
        yield from targets.children() if targets else ()


def _source(target: Section) -> Section | None:
    """The key that says where the secret lies, if it is sound and the only one."""
    found = [target.child(key) for key in ("secret", *_SOURCES)]
    given = [child for child in found if child is not None]
    if len(given) != 1 or given[0].name not in _SOURCES:
        return None
    try:
        TargetSpec.model_validate({"url": "x", given[0].name: given[0].node.plain()})
    except ValidationError:
        return None
    return given[0]


def _read(source: Section, *, environment: Mapping[str, str], folder: Path | None) -> str:
    written = str(source.node.value)
    if source.name == "secret_env":
        value = environment.get(written)
        if value is None:
            raise SecretError(f"the variable {written} is not set")
        return _checked(value)
    path = Path(written)
    if folder is None and not path.is_absolute():
        raise SecretError("write an absolute path: a manifest from stdin has no folder")
    return _checked(_file_text((folder or Path()) / path, written))


def _file_text(path: Path, written: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_FILE_BYTES_MAX).decode("ascii")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text of ASCII"
        raise SecretError(f"cannot read {written}: {reason}") from None


def _checked(text: str) -> str:
    secret = text.strip()
    problem = check_secret(secret)
    if problem is not None:
        raise SecretError(problem)
    return secret
