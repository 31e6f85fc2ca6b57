"""Tidy rules on the locks: hashed, naming no place, and holding what pyproject declares."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

_PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")
_PLACE: Final = re.compile(r"://|(?<!\w)[./~]|\\\\|\s@\s|--(?:extra-)?index|--find-links|\w/\w")
CLOUD_ONLY: Final = re.compile(r"^(?:google-|apache-beam|grpc)")


def locked(text: str) -> dict[str, frozenset[str]]:
    """The pinned versions of a lock by canonical name; markers can give a name several."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if match := _PIN.match(line):
            found.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return {name: frozenset(versions) for name, versions in found.items()}


def lock_hashes(path: PurePosixPath, text: str) -> Iterator[str]:
    """Every pin is followed by at least one hash, and nothing but pins and hashes is there."""
    joined = text.replace("\\\n", " ")
    for line in joined.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not _PIN.match(line):
            yield f"{path}: {line.split()[0]} is not pinned with =="
        elif "--hash=sha256:" not in line:
            yield f"{path}: {line.split()[0]} has no hash"


def lock_places(path: PurePosixPath, text: str) -> Iterator[str]:
    """A lock names no host, no URL and no folder."""
    for number, line in enumerate(text.splitlines(), start=1):
        if _PLACE.search(line):
            yield f"{path}:{number}: {line.strip()} names a place; run make lock"


def lock_satisfies(path: PurePosixPath, text: str, *, declared: Iterable[str]) -> Iterator[str]:
    """Every declared requirement is locked, each locked version within its bounds."""
    versions = locked(text)
    for requirement in map(Requirement, declared):
        pins = versions.get(canonicalize_name(requirement.name), frozenset())
        if not pins:
            yield f"{path}: {requirement.name} is declared but not locked; run make lock"
        for pin in sorted(pins):
            if not requirement.specifier.contains(Version(pin), prereleases=True):
                yield f"{path}: {requirement.name} {pin} is outside {requirement.specifier}"


def lock_is_base_only(path: PurePosixPath, text: str) -> Iterator[str]:
    """The base install holds no cloud client and no Beam."""
    for name in sorted(locked(text)):
        if CLOUD_ONLY.match(name):
            yield f"{path}: {name} belongs to the gcp extra"


def locks_agree(texts: Mapping[str, str]) -> Iterator[str]:
    """A package that two locks hold has the same versions in both."""
    seen: dict[str, tuple[str, frozenset[str]]] = {}
    for path, text in texts.items():
        for name, versions in locked(text).items():
            first, expected = seen.setdefault(name, (path, versions))
            if versions != expected:
                yield f"{path}: {name} {sorted(versions)}, but {sorted(expected)} in {first}"
