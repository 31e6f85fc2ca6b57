"""Tidy rules on imports: what the rules, the base install and the tenants' client may import.

import-linter keeps the layers; these rules keep what comes from outside. They read every import,
also those inside functions. A rule takes a path and its text and yields complaints.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

OWN_PACKAGES: Final = frozenset(
    {"scheduling", "schemas", "ports", "adapters", "dispatcher", "punctual"}
    | {"control_api", "transforms", "pipelines", "client"}
)
BASE_PACKAGES: Final = OWN_PACKAGES - {"transforms", "pipelines", "client"}
BEAM_PACKAGES: Final = frozenset({"transforms", "pipelines"})
# An adapter on a cloud technology is named for it, and only the gcp extra can import it.
CLOUD_SUFFIXES: Final = (
    "_spanner",
    "_pubsub",
    "_bigquery",
    "_bigtable",
    "_gcs",
    "_kms",
    "_cloud",
)
SCHEDULING_IMPORTS: Final = frozenset({"scheduling", "numpy", "dateutil"})
# Reads package data, or anything at all: only zones.py may, for the pinned tzdata.
SCHEDULING_REFUSED: Final = frozenset({"importlib", "pkgutil"})
SCHEDULING_EXCEPTIONS: Final = {
    "scheduling/zones.py": frozenset({"tzdata", "importlib"}),
    "scheduling/probe.py": frozenset({"croniter"}),
}
# Import names of the packages that the base install declares, where they differ.
IMPORT_NAMES: Final = {
    "opentelemetry-api": "opentelemetry",
    "PyJWT": "jwt",
    "python-dateutil": "dateutil",
    "PyYAML": "yaml",
}

# Parts of declared packages under names of their own, at versions which those packages bound.
COMPANION_IMPORTS: Final = frozenset({"pydantic_core"})


def scheduling_imports(path: PurePosixPath, text: str) -> Iterator[str]:
    """The rules import the standard library, numpy and dateutil; two modules have one more."""
    if path.suffix != ".py" or path.parts[0] != "scheduling":
        return
    standard = sys.stdlib_module_names - SCHEDULING_REFUSED
    allowed = standard | SCHEDULING_IMPORTS | SCHEDULING_EXCEPTIONS.get(str(path), frozenset())
    for line, name in imports(text):
        if _top(name) not in allowed:
            yield f"{path}:{line}: the rules may not import {name}"


def base_imports(path: PurePosixPath, text: str) -> Iterator[str]:
    """The base install has no Beam and no cloud client, and imports no module that needs one."""
    if path.suffix != ".py" or path.parts[0] not in BASE_PACKAGES or is_cloud_adapter(path):
        return
    for line, name in imports(text):
        beam = _top(name) == "apache_beam" or _top(name) in BEAM_PACKAGES
        if beam or name == "google" or (name.startswith("google.") and not _is_protobuf(name)):
            yield f"{path}:{line}: {name} is not in the base install"
    for line, name in imports(text, inside_functions=False):
        if name.startswith("adapters.") and _has_cloud_suffix(name.split(".")[1]):
            yield f"{path}:{line}: import {name} inside the function that opens it"


def declared_imports(path: PurePosixPath, text: str, *, declared: frozenset[str]) -> Iterator[str]:
    """What the base install imports is declared in pyproject, not merely installed by chance."""
    if path.suffix != ".py" or path.parts[0] not in BASE_PACKAGES or is_cloud_adapter(path):
        return
    for line, name in imports(text):
        top = _top(name)
        known = top in sys.stdlib_module_names or top in OWN_PACKAGES or top in declared
        if not known and top not in COMPANION_IMPORTS and not _is_protobuf(name):
            yield f"{path}:{line}: {name} is not declared in [project] dependencies"


def client_imports(path: PurePosixPath, text: str) -> Iterator[str]:
    """The tenants' client is installed alone: it imports nothing of the service."""
    if path.suffix != ".py" or path.parts[0] != "client":
        return
    for line, name in imports(text):
        if _top(name) in OWN_PACKAGES - {"client"} or _top(name) == "apache_beam":
            yield f"{path}:{line}: the client may not import {name}"


def imports(text: str, *, inside_functions: bool = True) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import; `from a import b` gives `a.b`."""
    pending: list[ast.AST] = [ast.parse(text)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif inside_functions or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending.extend(ast.iter_child_nodes(node))


def import_name(distribution: str) -> str:
    """The name under which a declared package is imported."""
    return IMPORT_NAMES.get(distribution, distribution.lower().replace("-", "_"))


def is_cloud_adapter(path: PurePosixPath) -> bool:
    """Whether a file needs the gcp extra: a cloud adapter's module or package."""
    return path.parts[0] == "adapters" and any(
        _has_cloud_suffix(part.removesuffix(".py")) for part in path.parts[1:]
    )


def _has_cloud_suffix(name: str) -> bool:
    return name.endswith(CLOUD_SUFFIXES)


def _is_protobuf(name: str) -> bool:
    """Protobuf and Tink's use of it belong to the base install."""
    return name.startswith("google.protobuf")


def _top(name: str) -> str:
    return name.split(".")[0]
