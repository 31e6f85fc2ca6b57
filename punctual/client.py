"""The API as the commands call it: over the network, or in this process over a data folder.

Either way it is the same application behind the same checks; without a running service the
command brings the application along and asks it without a socket.
"""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from ports.errors import StoreRefused
from punctual.local_files import ToldServer, read_local_token, told_server
from punctual.transports import (
    ANSWER_TIMEOUT_S,
    PROBE_TIMEOUT_S,
    Answer,
    NetworkTransport,
    NoAnswer,
    Transport,
    serves_folder,
)
from punctual.version import __version__
from schemas.printable import printable

if TYPE_CHECKING:
    from ports.time_authority import TimeAuthorityPort

_PAGE_ROWS: Final = 500
_TRIES: Final = 4
_WAIT_S: Final = 1  # for a server whose answer was lost, since it may be starting again
_KEY_BYTES: Final = 16
_IN_PROCESS: Final = "the store"


class Found(NamedTuple):
    """What a read found; `etag` names its revision in a change that rests on it."""

    body: Any
    etag: str | None


class ApiError(Exception):
    """The API refused. `fields` maps each field at fault to what is wrong with it."""

    def __init__(self, status: int, detail: str, fields: dict[str, str], code: str) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.fields = fields
        self.code = code

    def __str__(self) -> str:
        return self.detail


class ApiClient:
    """One caller. Close it when done; a context manager does.

    Every method raises ApiError for a refusal, StoreRefused when nobody answers.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        token: str,
        place: str,
        is_served: bool = True,
        tries: int = _TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """place: what messages call the other side; is_served: it is another process."""
        self.is_served = is_served
        self._transport = transport
        self._tries = tries
        self._sleep = sleep
        self._place = place
        self._headers = {
            "Authorization": f"Bearer {_checked(token)}",
            "User-Agent": f"punctual/{__version__}",
        }

    def __enter__(self) -> "ApiClient":
        return self

    def __exit__(self, *exc: object) -> None:
        self._transport.close()

    def get(self, path: str, **params: Any) -> Any:
        """The body of an answer."""
        return self.read(path, **params).body

    def read(self, path: str, **params: Any) -> Found:
        """The body of an answer, and the ETag of what it shows."""
        answer = self._request("GET", path, params=params)
        return Found(json.loads(answer.body), answer.headers.get("etag"))

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: dict[str, Any] | None = None,
        etag: str | None = None,
    ) -> Any:
        """The body of the answer to a change; with an `etag`, of that very revision.

        It has one effect however often it is sent: its key is drawn here, once.
        """
        headers = {"Idempotency-Key": secrets.token_hex(_KEY_BYTES)}
        if etag is not None:
            headers["If-Match"] = etag
        answer = self._request(method, path, body=body, params=params, headers=headers)
        return json.loads(answer.body)

    def pages(self, path: str, *, limit: int | None = None, **params: Any) -> Iterator[Any]:
        """Every item of a list, page by page, at most `limit`."""
        left = limit
        cursor = None
        while left is None or left > 0:
            rows = _PAGE_ROWS if left is None else min(_PAGE_ROWS, left)
            page = self.get(path, **params, cursor=cursor, limit=rows)
            yield from page["items"]
            cursor = page["cursor"]
            if left is not None:
                left -= len(page["items"])
            if cursor is None:
                return

    def _request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request; sent again while the service says to come back in a moment, and when its
        answer was lost: a read may be repeated, and a change has its key."""
        content = None if body is None else json.dumps(body).encode()
        sent = self._headers | dict(headers or {})
        if content is not None:
            sent["Content-Type"] = "application/json"
        answer = self._tried(method, _target(path, params or {}), body=content, headers=sent)
        if answer.status >= 300:
            raise _error_of(answer)
        return answer

    def _tried(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        was_sent = False
        for left in reversed(range(self._tries)):
            try:
                answer = self._transport.send(method, target, body=body, headers=headers)
            except NoAnswer as lost:
                was_sent = was_sent or lost.was_sent
                if not was_sent or lost.timed_out or not left:
                    is_open = was_sent and method != "GET"
                    raise StoreRefused(self._away_text(lost, is_open=is_open)) from lost
                wait_s = 0 if lost.was_sent and left == self._tries - 1 else _WAIT_S
            else:
                retry_after = answer.headers.get("retry-after", "")
                if answer.status != 503 or not left or retry_after not in ("1", "2"):
                    return answer
                wait_s = int(retry_after)
            self._sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    def _away_text(self, lost: NoAnswer, *, is_open: bool) -> str:
        if is_open:
            return (
                f"server: {self._place} gave no answer ({lost}): whether it made the change is "
                "open, so look before you send it again"
            )
        return (
            f"server: {self._place} does not answer ({lost}): start it with `punctual up`, "
            "or name another with --server"
        )


def connect(
    data: Path,
    *,
    server: str | None,
    token: str | None,
    clock: "TimeAuthorityPort | None",
) -> ApiClient:
    """The API of `server` with `token`; else of whoever serves `data`; else of this process.

    clock:  of an application in this process; None is the machine's
    Raises StoreRefused where there is neither a server nor a store.
    """
    found = connect_running(data, server=server, token=token) if clock is None or server else None
    return found or _in_process(data, clock, token or os.environ.get("PUNCTUAL_TOKEN"))


def connect_running(
    data: Path,
    *,
    server: str | None,
    token: str | None,
    answer_timeout_s: float = ANSWER_TIMEOUT_S,
    tries: int = _TRIES,
) -> ApiClient | None:
    """The API of `server`, or of whoever serves `data`; None where nobody does."""
    token = token or os.environ.get("PUNCTUAL_TOKEN")
    local, told = read_local_token(data), told_server(data)
    if server is None:
        if told is None or local is None or not _answers(told, answer_timeout_s):
            return None
        server, token = told.url, token or local
    elif token is None and told is not None and told.url == server:
        token = local  # never to another server than the folder's own
    if not token:
        raise StoreRefused(
            "token: the server wants one: put it into PUNCTUAL_TOKEN, "
            "or name the data folder it stands in with --data"
        )
    transport = NetworkTransport(server, answer_timeout_s=answer_timeout_s)
    return ApiClient(transport, token=token, place=server, tries=tries)


def _target(path: str, params: Mapping[str, Any]) -> str:
    """The path with its query; a list is a parameter that comes several times."""
    given = {key: value for key, value in params.items() if value is not None}
    texts = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in given.items()
    }
    return f"{path}?{urlencode(texts, doseq=True)}" if texts else path


def _checked(token: str) -> str:
    if token and token.isascii() and token.isprintable() and token == token.strip():
        return token
    raise StoreRefused("token: PUNCTUAL_TOKEN is none: put in what `punctual token create` printed")


def _error_of(answer: Answer) -> ApiError:
    """The problem document; some other text where a proxy answered in the service's place."""
    try:
        document = json.loads(answer.body)
        errors = document.get("errors", ())
        fields = {each["field"]: printable(str(each["detail"])) for each in errors}
        code = document["type"].rpartition(":")[2]
        detail = printable(str(document["detail"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiError(
            answer.status,
            f"server: answered {answer.status} without a word of Punctual: check --server",
            {},
            "",
        )
    if answer.status == 401:
        detail = (
            "token: the server does not know it, or it ended: put another into PUNCTUAL_TOKEN; "
            "an operator makes one with `punctual token create`"
        )
    return ApiError(answer.status, detail, fields, code)


def _answers(told: ToldServer, timeout_s: float) -> bool:
    """Whether the very server that left its word is there: the token is sent to no other."""
    transport = NetworkTransport(told.url, answer_timeout_s=min(timeout_s, PROBE_TIMEOUT_S))
    try:
        return serves_folder(transport, told)
    except NoAnswer:
        return False
    finally:
        transport.close()


def _in_process(data: Path, clock: "TimeAuthorityPort | None", token: str | None) -> ApiClient:
    """Imports what serving needs, and only then: asking a running service stays quick."""
    from adapters.clock_fixed import FixedClock
    from control_api.app import create_app
    from control_api.services import ApiSettings
    from punctual.api_host import services_of
    from punctual.credentials import ensure_local_token
    from punctual.data_folder import open_data_folder
    from punctual.transports import AppTransport

    clock = clock or FixedClock()
    folder = open_data_folder(data, create=False)
    try:
        token = token or ensure_local_token(data, folder.store, now_us=clock.now().earliest_us)
        services = services_of(folder, clock, settings=ApiSettings(allow_loopback=True))
        transport = AppTransport(create_app(services), close=folder.close)
        return ApiClient(transport, token=token, place=_IN_PROCESS, is_served=False)
    except BaseException:
        folder.close()
        raise
