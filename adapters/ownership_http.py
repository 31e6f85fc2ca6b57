"""The ownership port over HTTP: the well-known document of a host, fetched through the guard."""

import asyncio
import ssl
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from adapters.guarded_resolver import GuardedResolver, SystemResolver
from adapters.guarded_session import TRANSPORT_ERRORS, guarded_session
from adapters.http_errors import broke_off, not_connected
from ports.ownership import OwnershipAnswer, OwnershipPort
from scheduling.limits import ECHO_CHARS_MAX, OWNERSHIP_BYTES_MAX, OWNERSHIP_CHECK_S_MAX
from schemas.endpoints import check_endpoint
from schemas.well_known import ownership_url

_MEDIA_TYPE: Final = "text/plain"


class HttpOwnership(OwnershipPort):
    """Takes a `text/plain` answer of status 200 in which one line is the expected text.

    Other lines, as those of other tenants, and blanks around a line do not matter. Thread-safe;
    each check runs an event loop of its own, so not for a thread that runs one already.
    `resolver` and `ssl_context` replace the system's; whatever resolver is given is guarded.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        resolver: AbstractResolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
        timeout_s: float = OWNERSHIP_CHECK_S_MAX,
    ) -> None:
        self._allow_loopback = allow_loopback
        # One for all checks, so that name servers which never answer hold a bounded number of
        # threads. It is never closed: its threads end with it.
        self._resolver = GuardedResolver(
            resolver or SystemResolver(), allow_loopback=allow_loopback
        )
        self._ssl_context = ssl_context
        self._timeout_s = timeout_s

    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        problems = check_endpoint(endpoint, self._allow_loopback)
        if problems:
            return OwnershipAnswer(False, "; ".join(problems))
        url = ownership_url(endpoint)
        fault = asyncio.run(self._fault_of(URL(url, encoded=True), expected))
        if fault is None:
            return OwnershipAnswer(True, f"{url} serves the line")
        return OwnershipAnswer(
            False, f"{fault}; the line {expected} has to stand at {url}, as {_MEDIA_TYPE}"
        )

    async def _fault_of(self, url: URL, expected: str) -> str | None:
        """Why the host is not proven; None when it is."""
        place = f"{url.host_subcomponent}:{url.port}"
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                guarded_session(self._resolver, self._ssl_context) as session,
                session.get(
                    url, allow_redirects=False, headers={"accept": _MEDIA_TYPE}
                ) as response,
            ):
                return _fault_of_head(response) or await _fault_of_body(response, expected)
        except TimeoutError:
            return f"{place} gave no whole answer within {self._timeout_s:g} s"
        except aiohttp.ClientConnectorError as error:
            return not_connected(error, place)
        except TRANSPORT_ERRORS as error:
            return broke_off(error, place)


def _fault_of_head(response: aiohttp.ClientResponse) -> str | None:
    status = response.status
    if 300 <= status < 400:
        return f"the host answered {status}, and redirects are not followed"
    if status != HTTPStatus.OK:
        return f"the host answered {status}"
    if response.content_type != _MEDIA_TYPE:
        return f"the host answered with {_echo(response.content_type)}, not {_MEDIA_TYPE}"
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return "the host packed its answer, which was not asked for"
    return None


async def _fault_of_body(response: aiohttp.ClientResponse, expected: str) -> str | None:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > OWNERSHIP_BYTES_MAX:
            return f"the host's answer has more than {OWNERSHIP_BYTES_MAX:,} bytes"
    lines = [line.strip() for line in body.decode("utf-8-sig", errors="replace").splitlines()]
    if expected in lines:
        return None
    first = next(filter(None, lines), None)
    if first is None:
        return "the host's answer is empty"
    return f'no line of the host\'s answer is the expected one, the first is "{_echo(first)}"'


def _echo(text: str) -> str:
    """The beginning of what a host said, fit for a log and a terminal."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:ECHO_CHARS_MAX])
    return shown if len(text) <= ECHO_CHARS_MAX else shown[:-3] + "..."
