"""The API as the commands call it: over the network, or in this process over a data folder.

Either way it is the same application behind the same checks; without a running service the
command brings the application along and asks it without a socket.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx2 as httpx

from ports.errors import StoreRefused
from ports.time_authority import TimeAuthorityPort
from punctual.local_files import ToldServer, read_local_token, told_server
from punctual.version import __version__

_TIMEOUT_S: Final = 60.0
_PROBE_TIMEOUT_S: Final = 1.0
_PAGE_ROWS: Final = 500
_TRIES: Final = 4


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
    """One caller. Close it when done; a context manager does."""

    def __init__(self, client: httpx.AsyncClient, *, close: Any = None) -> None:
        self._client = client
        self._close = close
        self._runner = asyncio.Runner()

    def __enter__(self) -> "ApiClient":
        return self

    def __exit__(self, *exc: object) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()
        if self._close is not None:
            self._close()

    def get(self, path: str, **params: Any) -> Any:
        """The body of an answer. ApiError for a refusal, StoreRefused when nobody answers."""
        return self.request("GET", path, params=params).json()

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """The body of the answer to a change."""
        return self.request(method, path, body=body, params=params, headers=headers).json()

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

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """One request; asked again while the service says to come back in a moment."""
        given = {key: value for key, value in (params or {}).items() if value is not None}
        for left in reversed(range(_TRIES)):
            try:
                answer = self._runner.run(
                    self._client.request(method, path, json=body, params=given, headers=headers)
                )
            except httpx.HTTPError as error:
                raise StoreRefused(
                    f"server: {self._client.base_url} does not answer ({error}): start it with "
                    "`punctual up`, or name another with --server"
                ) from error
            wait_s = answer.headers.get("Retry-After", "")
            if answer.status_code != 503 or not left or wait_s not in ("1", "2"):
                break
            time.sleep(int(wait_s))
        if answer.is_error:
            raise _error_of(answer)
        return answer


def connect(
    data: Path, *, server: str | None, token: str | None, clock: TimeAuthorityPort | None
) -> ApiClient:
    """The API of `server` with `token`; else of whoever serves `data`; else of this process.

    clock:  of an application in this process; None is the machine's
    Raises StoreRefused where there is neither a server nor a store.
    """

    token = token or os.environ.get("PUNCTUAL_TOKEN")
    local, told = read_local_token(data), told_server(data)
    if server is not None:
        if token is None and told is not None and told.url == server:
            token = local  # never to another server than the folder's own
        if not token:
            raise StoreRefused(
                "token: the server wants one: put it into PUNCTUAL_TOKEN, "
                "or name the data folder it stands in with --data"
            )
        return ApiClient(_network(server, token))
    if clock is None and told is not None and local is not None and _answers(told):
        return ApiClient(_network(told.url, token or local))
    return _in_process(data, clock, token)


def _network(server: str, token: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=server, headers=_headers(token), timeout=_TIMEOUT_S, trust_env=False
    )


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "User-Agent": f"punctual/{__version__}"}


def _error_of(answer: httpx.Response) -> ApiError:
    """The problem document; some other text where a proxy answered in the service's place."""
    try:
        document = answer.json()
        fields = {each["field"]: each["detail"] for each in document.get("errors", ())}
        code = document["type"].rpartition(":")[2]
        return ApiError(answer.status_code, document["detail"], fields, code)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiError(answer.status_code, f"server: answered {answer.status_code}", {}, "")


def _answers(told: ToldServer) -> bool:
    """Whether the very server that left its word is there: the token is sent to no other."""
    try:
        answer = httpx.get(f"{told.url}/healthz", timeout=_PROBE_TIMEOUT_S, trust_env=False)
        return answer.is_success and answer.json().get("instance") == told.instance
    except (httpx.HTTPError, ValueError, AttributeError):
        return False


def _in_process(data: Path, clock: TimeAuthorityPort | None, token: str | None) -> ApiClient:
    """Imports what serving needs, and only then: asking a running service stays quick."""
    from adapters.clock_fixed import FixedClock
    from control_api.app import create_app
    from control_api.services import ApiSettings
    from punctual.api_host import services_of
    from punctual.credentials import ensure_local_token
    from punctual.data_folder import open_data_folder

    clock = clock or FixedClock()
    folder = open_data_folder(data, create=False)
    try:
        token = token or ensure_local_token(data, folder.store, now_us=clock.now().earliest_us)
        services = services_of(folder, clock, settings=ApiSettings(allow_loopback=True))
        transport = httpx.ASGITransport(app=create_app(services))
    except BaseException:
        folder.close()
        raise
    client = httpx.AsyncClient(
        transport=transport, base_url="http://punctual", headers=_headers(token)
    )
    return ApiClient(client, close=folder.close)
