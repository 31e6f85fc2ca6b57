"""The control API inside a process: its services over a data folder, and its server."""

import socket
import threading
from collections.abc import Collection
from typing import Any, Final

import uvicorn

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.authenticator_tokens import TokenAuthenticator
from adapters.ownership_http import HttpOwnership
from control_api.app import PARTS, Part, create_app
from control_api.gate import ChangeGate
from control_api.services import ApiSettings, Services
from ports.errors import StoreRefused
from ports.time_authority import TimeAuthorityPort
from punctual.data_folder import KEYS_FOLDER, DataFolder

API_PORT: Final = 8400
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_STARTED_POLL_S: Final = 0.01
_KEEP_ALIVE_S: Final = 30


def services_of(folder: DataFolder, clock: TimeAuthorityPort, *, settings: ApiSettings) -> Services:
    """What the API stands on in one process; tokens of the store prove its callers."""
    return Services(
        store=folder.store,
        lanes=folder.lanes,
        events=folder.events,
        clock=clock,
        gate=ChangeGate(clock),
        authenticator=TokenAuthenticator(folder.store.principals),
        payload_keys=folder.payload_keys,
        attempt_tokens=LocalAttemptTokens(folder.path / KEYS_FOLDER),
        ownership=HttpOwnership(allow_loopback=settings.allow_loopback),
        settings=settings,
    )


def is_loopback(host: str) -> bool:
    return host in _LOOPBACK


class ApiServer:
    """Serves on a thread of its own, so that neither the decider nor a delivery holds it up."""

    def __init__(self, app: Any, *, host: str, port: int) -> None:
        """Binds at once: OSError for a port in use; 0 takes any free one."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="api", daemon=True)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._socket.getsockname()[1]}"

    def __enter__(self) -> "ApiServer":
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(_STARTED_POLL_S)
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def wait(self) -> None:
        """Until the server ends."""
        self._thread.join()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])


def api_app(services: Services, parts: Collection[Part] = PARTS) -> Any:
    """The application of these parts."""
    return create_app(services, parts)


def check_bind(host: str, *, has_authenticator: bool) -> None:
    """StoreRefused for a bind that anybody could use: nothing would prove who calls."""
    if not is_loopback(host) and not has_authenticator:
        raise StoreRefused(
            f"host: {host} is not loopback and nothing proves who calls: "
            "serve on 127.0.0.1, or start with --auth tokens"
        )
