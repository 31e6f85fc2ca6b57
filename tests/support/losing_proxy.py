"""A proxy that loses answers: the request arrives, and its sender never hears of it."""

import socket
import threading
from typing import Final, Self

_CHUNK: Final = 65_536
_TIMEOUT_S: Final = 30.0


class LosingProxy:
    """Forwards to a server on loopback; `lose` is how many answers of changes are still lost."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.lose = 0
        self.lost: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(_TIMEOUT_S)

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:  # closed: that is the end
                return
            with caller, socket.create_connection(("127.0.0.1", self._port)) as server:
                for each in (caller, server):
                    each.settimeout(_TIMEOUT_S)
                self._carry(caller, server)

    def _carry(self, caller: socket.socket, server: socket.socket) -> None:
        """One request and its answer after the other, until one of them closes."""
        while request := _read_message(caller):
            server.sendall(request)
            answer = _read_message(server)
            if self.lose and not request.startswith(b"GET "):
                self.lose -= 1
                self.lost.append(request)
                return
            caller.sendall(answer)


def _read_message(source: socket.socket) -> bytes:
    """Head and body of one message; nothing where the other side closed."""
    message = b""
    while b"\r\n\r\n" not in message:
        chunk = source.recv(_CHUNK)
        if not chunk:
            return b""
        message += chunk
    head, _, body = message.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += source.recv(_CHUNK)
    return head + b"\r\n\r\n" + body
