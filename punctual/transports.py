"""How a request reaches the API: over a connection, or straight into an application.

The standard library's HTTP client, because a command starts anew each time: what a fuller client
imports takes longer than the request.
"""

import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from punctual.local_files import ToldServer
from schemas.printable import printable
from schemas.server_proofs import proof_of

CONNECT_TIMEOUT_S: Final = 5.0
ANSWER_TIMEOUT_S: Final = 60.0
PROBE_TIMEOUT_S: Final = 1.0  # of a question whether somebody is there
_BUSY: Final = (429, 503)
_CHALLENGE_BYTES: Final = 16
_ANSWER_BYTES_MAX: Final = 256 * 1024 * 1024


class Answer(NamedTuple):
    """`headers` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """Nobody answered.

    was_sent:   the request may have arrived, and may have been acted on
    timed_out:  it may be acted on still
    """

    def __init__(self, text: str, *, was_sent: bool, timed_out: bool = False) -> None:
        super().__init__(text)
        self.was_sent = was_sent
        self.timed_out = timed_out


class Transport(Protocol):
    """Sends one request at a time."""

    def send(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """The answer whatever its status; NoAnswer otherwise."""

    def close(self) -> None:
        """Nothing is sent any more."""


class NetworkTransport:
    """One connection, opened when it is needed and again after it broke."""

    def __init__(self, server: str, *, answer_timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        """`server` is a checked URL."""
        parts = urlsplit(server)
        self._base = parts.path.rstrip("/")
        self._answer_timeout_s = answer_timeout_s
        connect_s = min(CONNECT_TIMEOUT_S, answer_timeout_s)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=connect_s)

    def send(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        self._connect()
        try:
            self._connection.request(method, self._base + target, body=body, headers=dict(headers))
            return _read(self._connection.getresponse())
        except TimeoutError as error:
            self._connection.close()
            text = f"no answer within {self._answer_timeout_s:g} s"
            raise NoAnswer(text, was_sent=True, timed_out=True) from error
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise NoAnswer(_reason(error), was_sent=True) from error

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> None:
        if self._connection.sock is not None:
            return
        try:
            self._connection.connect()
            if self._connection.sock is not None:
                self._connection.sock.settimeout(self._answer_timeout_s)
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise NoAnswer(_reason(error), was_sent=False) from error


def serves_folder(transport: Transport, told: ToldServer) -> bool:
    """Whether the very server answers that left its word in a folder.

    NoAnswer where none does, or where it is too busy to tell.
    """
    challenge = secrets.token_hex(_CHALLENGE_BYTES)
    path = f"/healthz?challenge={challenge}"
    answer = transport.send("GET", path, body=None, headers={})
    if answer.status in _BUSY:
        raise NoAnswer(f"it answers {answer.status}: too much is asked of it", was_sent=True)
    try:
        proof = json.loads(answer.body)["proof"]
    except (ValueError, KeyError, TypeError):
        return False
    wanted = proof_of(told.instance, challenge)
    return isinstance(proof, str) and hmac.compare_digest(proof.encode(), wanted.encode())


def is_served_by(told: ToldServer) -> bool:
    """The same, asked in a moment over a connection of its own."""
    transport = NetworkTransport(told.url, answer_timeout_s=PROBE_TIMEOUT_S)
    try:
        return serves_folder(transport, told)
    finally:
        transport.close()


class AppTransport:
    """Asks an ASGI application in this process, without a socket."""

    def __init__(self, app: Any, *, close: Callable[[], None]) -> None:
        import asyncio

        import httpx2 as httpx

        self._close = close
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://punctual", timeout=None
        )

    def send(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        asking = self._client.request(method, target, content=body, headers=dict(headers))
        answer = self._runner.run(asking)
        lower = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status_code, lower, answer.content)

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()
        self._close()


def _read(response: HTTPResponse) -> Answer:
    body = response.read(_ANSWER_BYTES_MAX + 1)
    if len(body) > _ANSWER_BYTES_MAX:
        raise HTTPException("the answer is too long to be one of Punctual")
    lower = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, lower, body)


def _reason(error: Exception) -> str:
    strerror = getattr(error, "strerror", None)
    return printable(str(strerror or error or type(error).__name__))
