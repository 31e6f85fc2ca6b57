"""From the text of a manifest to the changes it asks of a store."""

import os
import pwd
from pathlib import Path

from control_api.manifests.apply import changes_of
from control_api.manifests.manifest import load_manifest
from ports.changes import Change
from ports.registry import RegistryPort


def changes_in(
    registry: RegistryPort,
    text: bytes,
    *,
    name: str,
    folder: Path | None,
    now_us: int,
    allow_loopback: bool,
) -> list[Change]:
    """The changes of one manifest; `folder` is where its relative files start.

    Raises ManifestErrors with every problem of the file.
    """
    manifest = load_manifest(text, name=name, now_us=now_us, allow_loopback=allow_loopback)
    return changes_of(
        manifest,
        registry,
        actor=local_actor(),
        environment=os.environ,
        folder=folder or Path(),
    )


def local_actor() -> str:
    """Who acts, as the audit names them: the user that the process runs as.

    Not what the environment says: anybody can set that.
    """
    try:
        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:  # a user without a name
        return f"cli:{os.getuid()}"
