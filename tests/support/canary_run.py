"""One run of the real service with canaries on every way in, and every place where one may be.

The service logs at debug level as JSON; the receiver says back whatever it gets.
"""

import http.client
import json
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from punctual.data_folder import STORE_FILE
from punctual.local_files import read_local_token, told_server
from tests.support.canaries import Aviary
from tests.support.echo_receiver import EchoReceiver
from tests.support.service_process import ServiceProcess, run_punctual, wait_until

TENANT: Final = "acme"
PREFIX: Final = f"/v1/tenants/{TENANT}"
HOWS: Final = ("ok", "refuse", "busy", "moved", "garbage")
_NEVER: Final = "0 0 1 1 *"
_JSON: Final = {"Content-Type": "application/json"}


@dataclass(slots=True)
class CanaryRun:
    """`places` is all that was said or written, `unexpected` what did not end as it should."""

    folder: Path
    receiver: EchoReceiver
    process: ServiceProcess = field(init=False)
    aviary: Aviary = field(default_factory=Aviary)
    places: dict[str, bytes] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    token: str = ""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self, process: ServiceProcess) -> None:
        """Wait for its API and its manifest; the folder's own token is a canary."""
        self.process = process
        self.process.wait_for_out(f"created trigger {TENANT}/manifest")
        wait_until(lambda: told_server(self.data) is not None, "the API is told")
        self.token = self.aviary.keep("token", "local", read_local_token(self.data) or "")

    def ask(
        self,
        way: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        expect: int = 200,
        headers: Mapping[str, str] | None = None,
        token: str | None = "",
        place: str | None = None,
    ) -> Any:
        """One request; its answer, head and all, becomes a place. The document, where it is one.

        body:   bytes as they are, or what is to become JSON
        token:  None for none; the folder's own unless told otherwise
        """
        told = told_server(self.data)
        assert told is not None
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {} if content is None else dict(_JSON)
        if token is not None:
            sent["Authorization"] = f"Bearer {token or self.token}"
        try:
            status, head, said = _answered(
                told.url, method, path, content=content, headers=sent | dict(headers or {})
            )
        except ConnectionError:
            # A body that is refused unread may be cut off before the answer was read.
            status, head, said = 413, b"", b""
        if status != expect:
            self.unexpected.append(f"{way}: {status} {said[:300]!r}")
        name = place or f"answer/{way}"
        self.places[name] = self.places.get(name, b"") + head + said
        try:
            return json.loads(said)
        except ValueError:
            return None

    def command(
        self,
        way: str,
        *arguments: str | Path,
        expect: int | None = 0,
        place: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """One command line on the folder; what it prints becomes a place."""
        done = run_punctual(
            *arguments, environment={"PUNCTUAL_DATA": str(self.data), **(environment or {})}
        )
        if expect is not None and done.returncode != expect:
            self.unexpected.append(f"{way}: exit {done.returncode}: {done.stderr[:300]}")
        self.places[place or f"cli/{way}"] = (done.stdout + done.stderr).encode()
        return done.stdout

    def payload(self, way: str) -> dict[str, Any]:
        """A payload with canaries as values and as a key."""
        seed = self.aviary.seed
        return {
            "text": seed("payload", f"{way}, value"),
            "deep": [{seed("payload", f"{way}, key"): seed("payload", f"{way}, deep value")}],
        }

    def trigger(self, how: str = "ok", **keys: Any) -> dict[str, Any]:
        """A trigger's body, to the target that answers so."""
        return {"schedule": _NEVER, "zone": "UTC", "target": how} | keys

    def gather_files(self) -> None:
        """Every file of the data folder as it is now, on top of what it was before."""
        for path in sorted(self.data.rglob("*")):
            if path.is_file():
                name = f"file/{path.relative_to(self.data).as_posix()}"
                self.places[name] = self.places.get(name, b"") + path.read_bytes()

    def gather_logs(self) -> None:
        """What the process has said so far."""
        self.places["log/stdout"] = "\n".join(self.process.out).encode()
        self.places["log/stderr"] = "\n".join(self.process.err).encode()

    def gather_backup(self, file: Path) -> None:
        """The archive as it is, and each of its members unpacked."""
        self.places["backup.zip"] = file.read_bytes()
        with zipfile.ZipFile(file) as archive:
            for name in archive.namelist():
                self.places[f"backup/{name}"] = archive.read(name)


def _answered(
    url: str, method: str, path: str, *, content: bytes | None, headers: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Status, head and body of one answer."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)) as link:
        link.request(method, path, content, dict(headers))
        answer = link.getresponse()
        head = "".join(f"{name}: {value}\n" for name, value in answer.getheaders())
        return answer.status, head.encode(), answer.read()


def write_manifest(run: CanaryRun) -> Path:
    """The service's own: every target, and a trigger with a payload."""
    way, file = "manifest", run.folder / "manifest.yaml"
    targets = {
        how: {"url": run.receiver.url(how), "secret": run.aviary.seed_secret(f"{way}, {how}")}
        for how in HOWS
    }
    triggers = {way: run.trigger(payload=run.payload(way))}
    file.write_text(
        yaml.safe_dump({"tenants": {TENANT: {"targets": targets, "triggers": triggers}}})
    )
    return file


def plant_in_store(store: Path, statement: str, value: str, *, then: str = "") -> bytes:
    """A copy's bytes after statements that the service would never run."""
    copy = store.with_name("planted.db")
    with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA secure_delete=OFF")  # some builds wipe what is deleted by default
        target.execute(statement, (value,))
        target.commit()
        target.executescript(then)
    content = copy.read_bytes()
    copy.unlink()
    return content


__all__ = [
    "HOWS",
    "PREFIX",
    "STORE_FILE",
    "TENANT",
    "CanaryRun",
    "plant_in_store",
    "write_manifest",
]
