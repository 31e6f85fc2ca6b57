"""Compiled zone files for data sets other than the pinned one, made from its own."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from scheduling.zones import zone_names


def pinned_file(zone: str) -> bytes:
    """The compiled file of a zone of the pinned tzdata."""
    return files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()


def write_package(
    folder: Path, *, version: str = "2099z", instead: Mapping[str, str] | None = None
) -> Path:
    """A folder like the tzdata package's, of another version.

    instead:  whose file stands under a zone's name; an empty name leaves the zone out
    """
    kept: list[str] = []
    for name in sorted(zone_names()):
        source = (instead or {}).get(name, name)
        if source:
            kept.append(name)
            path = folder / "zoneinfo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pinned_file(source))
    (folder / "zones").write_text("\n".join(kept))
    (folder / "__init__.py").write_text(f'IANA_VERSION = "{version}"\n')
    return folder
