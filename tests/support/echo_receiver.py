"""A receiver that says everything back that it got, in every part of an answer.

The first word of the path chooses how: `ok`, `refuse`, `busy`, `moved` or `garbage`.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple, Self
from urllib.parse import quote

_STATUS: Final = {"ok": 200, "refuse": 400, "busy": 503, "moved": 302}


class Got(NamedTuple):
    """One request as it came."""

    path: str
    headers: str
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def token(self) -> str:
        lines = [line for line in self.headers.splitlines() if line.startswith("authorization: ")]
        return lines[0].removeprefix("authorization: Bearer ")


class EchoReceiver:
    """Listens on loopback between entering and leaving."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def url(self, how: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{how}"

    def of(self, how: str) -> list[Got]:
        """The requests that were answered so."""
        return [each for each in list(self.got) if each.path.startswith(f"/{how}")]

    def content(self) -> bytes:
        """Everything that ever came."""
        return b"\n".join(
            f"{each.path}\n{each.headers}\n".encode() + each.body for each in list(self.got)
        )

    def _handler(receiver: "EchoReceiver") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = "".join(
                    f"{name.lower()}: {value}\n" for name, value in self.headers.items()
                )
                receiver.got.append(Got(self.path, headers, body))
                how = self.path.strip("/").partition("/")[0]
                if how == "garbage":
                    self.wfile.write(body + b"\r\n\r\n")
                    self.close_connection = True
                    return
                self._answer(how, headers, body)

            def _answer(self, how: str, headers: str, body: bytes) -> None:
                said = quote(body)
                self.send_response(_STATUS[how], body.decode().replace("\n", " "))
                self.send_header("retry-after", said[:200])
                self.send_header("location", f"/ok?{said}&{quote(headers)}")
                self.send_header("set-cookie", f"session={said[:1000]}")
                self.send_header("x-echo", said)
                content = headers.encode() + body
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing: the test's own output is looked at as well."""

        return Handler
