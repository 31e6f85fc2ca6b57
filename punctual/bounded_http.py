"""uvicorn's HTTP protocol with three bounds: the size of a head, its time, and connections.

Whoever sends a head without end, or a byte of it a minute, holds a connection and memory before
any check of ours sees the request. The body's bounds are the application's (control_api/edge.py).
"""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from scheduling.limits import (
    API_CONNECTIONS_MAX,
    HEAD_BYTES_MAX,
    HEAD_S_MAX,
    LINGER_BYTES_MAX,
    LINGER_S_MAX,
    LINGERING_MAX,
)

_REFUSALS: Final = {
    400: b"Bad Request",
    408: b"Request Timeout",
    503: b"Service Unavailable",
    431: b"Request Header Fields Too Large",
}


class BoundedHttp(HttpToolsProtocol):
    """Ends a connection whose next head is too long, or is not whole in time.

    Between two requests the connection may stand idle for as long as uvicorn's own timeout says.
    Behind a refusal of its own it reads on for a while and drops what comes: over unread bytes the
    kernel would reset the connection, and the caller might lose the answer.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = True
    _linger_timer: asyncio.TimerHandle | None = None
    _dropped_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > API_CONNECTIONS_MAX:
            # Each holds a file, and deliveries need theirs.
            is_far_over = len(self.connections) > API_CONNECTIONS_MAX + LINGERING_MAX
            self._refuse(503, lingers=not is_far_over)
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._linger_timer is not None:
            self._drop(data)
            return
        if self._in_head:
            self._head_bytes += len(data)
        if self._head_timer is None and self._is_between_requests():
            self._await_head()
        super().data_received(data)
        # A body that came with the head was counted as well, so this looks after the parser.
        if self._in_head and self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(431)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self._in_head = False
        self._head_bytes = 0
        super().on_headers_complete()

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_S_MAX, self._refuse, 408)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def send_400_response(self, msg: str) -> None:
        """For what the parser takes for no HTTP."""
        self._refuse(400)

    def _refuse(self, status: int, *, lingers: bool = True) -> None:
        self._stop_timer()
        if self.transport.is_closing() or self._linger_timer is not None:
            return
        line = b"HTTP/1.1 %d %s\r\n" % (status, _REFUSALS[status])
        self.transport.write(line + b"connection: close\r\ncontent-length: 0\r\n\r\n")
        if not lingers:
            self.transport.close()
            return
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._linger_timer = self.loop.call_later(LINGER_S_MAX, self.transport.close)
        self.flow.resume_reading()

    def _drop(self, data: bytes) -> None:
        self._dropped_bytes += len(data)
        if self._dropped_bytes > LINGER_BYTES_MAX:
            self.transport.close()
