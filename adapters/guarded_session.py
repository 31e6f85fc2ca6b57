"""The client session of every outgoing fetch: guarded, and blind to all that could lead it astray.

No cookies, no proxy variables, no unpacking of bodies; whoever uses it follows no redirect and
bounds the whole of each request by a timeout of its own.
"""

import ssl
from collections.abc import Sequence
from importlib.metadata import version as version_of
from typing import Any, Final

import aiohttp
from aiohttp.connector import Connection

from adapters.guarded_resolver import GuardedResolver
from scheduling.limits import (
    CONNECTIONS_MAX,
    CONNECTIONS_PER_HOST_MAX,
    INFORMATIONAL_ANSWERS_MAX,
    KEEP_ALIVE_S,
)

USER_AGENT: Final = f"punctual/{version_of('punctual')}"
TRANSPORT_ERRORS = (aiohttp.ClientError, OSError)  # a TimeoutError is an OSError
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)


def guarded_session(
    resolver: GuardedResolver,
    ssl_context: ssl.SSLContext | None,
    *,
    trace_configs: Sequence[aiohttp.TraceConfig] = (),
) -> aiohttp.ClientSession:
    """A session for one event loop. Closing it leaves the resolver open."""
    connector = aiohttp.TCPConnector(
        resolver=resolver,
        ssl=ssl_context or True,
        limit=CONNECTIONS_MAX,
        limit_per_host=CONNECTIONS_PER_HOST_MAX,
        keepalive_timeout=KEEP_ALIVE_S,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"user-agent": USER_AGENT},
        timeout=_NO_TIMEOUT,
        trust_env=False,
        auto_decompress=False,  # a compressed bomb stays small
        skip_auto_headers=("Accept-Encoding",),
        trace_configs=list(trace_configs),
        response_class=_ImpatientResponse,
    )


class _ImpatientResponse(aiohttp.ClientResponse):
    """Gives up on a target that answers 1xx again and again: aiohttp would read on until the end
    of the attempt, and parsing them keeps other attempts waiting."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        if protocol is None:
            return await super().start(connection)
        read, left = protocol.read, INFORMATIONAL_ANSWERS_MAX + 1

        async def read_some() -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise aiohttp.ClientPayloadError("too many informational answers")
            return await read()

        protocol.read = read_some  # type: ignore[method-assign]
        try:
            return await super().start(connection)
        finally:
            del protocol.read
