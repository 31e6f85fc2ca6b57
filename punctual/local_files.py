"""The small files of a data folder: the local token, and where its API is served."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

TOKEN_FILE: Final = "token"  # noqa: S105 -- a file's name
SERVER_FILE: Final = "server.json"


class ToldServer(NamedTuple):
    """`instance` is a secret that the server draws at its start: whoever knows it wrote the file,
    or may read it."""

    url: str
    instance: str


def read_local_token(folder: Path) -> str | None:
    """The token that stands in the folder, whether it is still good or not."""
    try:
        text = (folder / TOKEN_FILE).read_text().strip()
    except OSError:
        return None
    return text or None


def tell_server(folder: Path, told: ToldServer) -> None:
    """Leave word in the folder where its API is served, in place of what stands there."""
    write_private(folder / SERVER_FILE, json.dumps(told._asdict()))


def forget_server(folder: Path, told: ToldServer) -> None:
    """Take the word back, unless it is another server's by now."""
    if told_server(folder) == told:
        # Another server may put its own in place just now: it looks again, and puts it back.
        with suppress(OSError):
            (folder / SERVER_FILE).unlink()


def told_server(folder: Path) -> ToldServer | None:
    """Where the folder's API is said to be served."""
    try:
        document = json.loads((folder / SERVER_FILE).read_text())
        told = ToldServer(str(document["url"]), str(document["instance"]))
        is_usable = urlsplit(told.url).port is not None  # ValueError for a port that is none
        return told if is_usable else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_private(path: Path, text: str) -> None:
    """Whole or not at all, and never readable for others in between."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.new")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
