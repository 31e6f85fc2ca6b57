"""The control API inside a process: its services over a data folder, and its server."""

import secrets
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import uvicorn

from adapters.attempt_tokens_local import LocalAttemptTokens
from adapters.authenticator_tokens import TokenAuthenticator
from adapters.ownership_http import HttpOwnership
from control_api.app import create_app
from control_api.gate import ChangeGate
from control_api.health import Health
from control_api.parts import PARTS, Part
from control_api.services import ApiSettings, Services
from ports.errors import StoreUnavailable
from ports.time_authority import TimeAuthorityPort
from punctual.bounded_http import BoundedHttp
from punctual.credentials import ensure_local_token
from punctual.data_folder import KEYS_FOLDER, DataFolder
from punctual.listening import Auth, check_bind, listening
from punctual.local_files import ToldServer
from punctual.ownership_checks import OwnershipChecks
from punctual.registration import Registration

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


class ApiServer:
    """Serves on a thread of its own, so that neither the decider nor a delivery holds it up."""

    def __init__(self, app: Any, *, services: Services, listener: socket.socket) -> None:
        """`listener` listens already, and is closed when this server ends."""
        self.services = services
        self._socket = listener
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
        host, port = listener.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def __enter__(self) -> "ApiServer":
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(_STARTED_POLL_S)
        if not self._server.started:
            raise StoreUnavailable("the API's server ended at its start: the log says why")
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
    listener: socket.socket | None = None,
) -> Iterator[ApiServer]:
    """Serve the API of a data folder until the block ends.

    All of it, not some parts alone, is registered in the folder for the commands to find.
    listener:  of this very port, where it was taken before the folder was opened
    Raises StoreRefused for a port that is in use, and for a bind that anybody could use.
    """
    check_bind(host, auth)
    with ExitStack() as stack:
        listener = stack.enter_context(listener or listening(host, port, data=folder.path))
        instance = secrets.token_hex(_INSTANCE_BYTES)
        settings = ApiSettings(allow_loopback=allow_loopback, instance=instance)
        services = services_of(folder, clock, settings=settings, auth=auth)
        ensure_local_token(folder.path, folder.store, now_us=clock.now().earliest_us)
        health = Health(services)
        stack.callback(health.close)
        app = create_app(services, parts, health=health)
        server = stack.enter_context(ApiServer(app, services=services, listener=listener))
        stack.enter_context(OwnershipChecks(services))
        stack.enter_context(services.gate.watching())
        if set(parts) == set(PARTS):
            told = ToldServer(server.url, instance)
            stack.enter_context(Registration(folder.path, told))
        yield server
