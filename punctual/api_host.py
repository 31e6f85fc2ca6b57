"""The control API inside a process: its services over a data folder, and its server."""

import secrets
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

import uvicorn

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.authenticator_tokens import TokenAuthenticator
from adapters.ownership_http import HttpOwnership
from control_api.app import PARTS, Part, create_app
from control_api.gate import ChangeGate
from control_api.health import Health
from control_api.services import LOOPBACK_HOSTS, ApiSettings, Services
from ports.errors import StoreRefused
from ports.time_authority import TimeAuthorityPort
from punctual.bounded_http import BoundedHttp
from punctual.credentials import ensure_local_token
from punctual.data_folder import KEYS_FOLDER, DataFolder
from punctual.local_files import ToldServer, forget_server, tell_server
from punctual.ownership_checks import OwnershipChecks

API_PORT: Final = 8400
Auth = Literal["tokens", "none"]
_STARTED_POLL_S: Final = 0.01
_INSTANCE_BYTES: Final = 32
_KEEP_ALIVE_S: Final = 30


def services_of(
    folder: DataFolder,
    clock: TimeAuthorityPort,
    *,
    settings: ApiSettings,
    auth: Auth = "tokens",
) -> Services:
    """What the API stands on in one process; tokens of the store prove its callers."""
    return Services(
        store=folder.store,
        lanes=folder.lanes,
        events=folder.events,
        clock=clock,
        gate=ChangeGate(clock),
        authenticator=TokenAuthenticator(folder.store.principals) if auth == "tokens" else None,
        payload_keys=folder.payload_keys,
        attempt_tokens=LocalAttemptTokens(folder.path / KEYS_FOLDER),
        ownership=HttpOwnership(allow_loopback=settings.allow_loopback),
        settings=settings,
    )


def check_bind(host: str, auth: Auth) -> None:
    """StoreRefused for a bind that others could use while nothing proves who calls."""
    if auth == "none" and host not in LOOPBACK_HOSTS:
        raise StoreRefused(
            f"host: {host} is not loopback, and with --auth none nothing proves who calls: "
            "serve on 127.0.0.1, or leave --auth at tokens"
        )


class ApiServer:
    """Serves on a thread of its own, so that neither the decider nor a delivery holds it up."""

    def __init__(self, app: Any, *, services: Services, host: str, port: int) -> None:
        """Binds at once: OSError for a port in use; 0 takes any free one."""
        self.services = services
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # The protocol is named because asyncio sends small packets at once only then; otherwise
        # every answer on a connection that is kept waits 40 ms for the reader's kernel.
        self._socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise
        config = uvicorn.Config(
            app,
            http=BoundedHttp,
            ws="none",
            proxy_headers=False,  # whoever calls from loopback could take any address otherwise
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


@contextmanager
def serving(
    folder: DataFolder,
    clock: TimeAuthorityPort,
    *,
    host: str,
    port: int,
    allow_loopback: bool,
    parts: Collection[Part] = PARTS,
    auth: Auth = "tokens",
) -> Iterator[ApiServer]:
    """Serve the API of a data folder until the block ends, and leave word of it in the folder.

    Raises OSError for a port that is in use, StoreRefused for a bind that anybody could use.
    """
    check_bind(host, auth)
    instance = secrets.token_hex(_INSTANCE_BYTES)
    settings = ApiSettings(allow_loopback=allow_loopback, instance=instance)
    services = services_of(folder, clock, settings=settings, auth=auth)
    ensure_local_token(folder.path, folder.store, now_us=clock.now().earliest_us)
    health = Health(services)
    try:
        app = create_app(services, parts, health=health)
        server = ApiServer(app, services=services, host=host, port=port)
        with server, OwnershipChecks(services), services.gate.watching():
            told = ToldServer(server.url, instance)
            tell_server(folder.path, told)
            try:
                yield server
            finally:
                forget_server(folder.path, told)
    finally:
        health.close()
