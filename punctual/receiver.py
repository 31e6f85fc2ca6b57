"""The demo's target: a small web server on loopback that verifies, deduplicates and counts.

Also a model for a tenant's own receiver: verify first, remember the fire key only once the work
is done, answer a repeat like the first time, and say under the well-known path whose fires it
takes.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address
from socket import create_server, socket
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

from control_api.ownership_text import ownership_text
from scheduling.instants import SECOND_US, from_text
from scheduling.limits import RECEIVER_BODY_BYTES_MAX, RECEIVER_IDS_MAX
from schemas.well_known import OWNERSHIP_PATH


@dataclass(frozen=True, slots=True)
class ReceivedFire:
    """A fire as its target sees it; `payload` is any JSON value."""

    fire_key: str
    tenant: str
    trigger: str
    scheduled_instant_us: int
    due_at_us: int
    origin: str
    lane: str
    attempt: int
    payload: Any = field(repr=False)
    received_at_us: int

    @property
    def lateness_s(self) -> float:
        """Arrival minus due_at, in seconds."""
        return (self.received_at_us - self.due_at_us) / SECOND_US


@dataclass(slots=True)
class ReceiverCounts:
    fires: int = 0
    duplicates: int = 0
    refused: int = 0


class DemoReceiver:
    """An async context manager: it listens between entering and leaving.

    secrets:   the `whsec_` secrets that it accepts
    on_fire:   called once per fire key, and again when it raised: the answer is then 500, so the
               service tries again
    tenants:   those whose ownership of this host it serves the proof of
    listener:  a socket of loopback, else any free port of it
    clock:     Unix time in seconds, for the lateness only; the signature's five minutes are the
               library's own clock
    """

    def __init__(
        self,
        secrets: Sequence[str],
        on_fire: Callable[[ReceivedFire], None],
        *,
        tenants: Sequence[str] = (),
        listener: socket | None = None,
        ids_max: int = RECEIVER_IDS_MAX,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if listener is not None and not ip_address(listener.getsockname()[0]).is_loopback:
            host = listener.getsockname()[0]
            raise ValueError(f"host: {host} is not loopback: the demo receiver serves this host")
        self.counts = ReceiverCounts()
        self._webhooks = tuple(Webhook(secret) for secret in secrets)
        self._tenants = tuple(tenants)
        self._on_fire = on_fire
        self._listener = listener
        self._endpoint = ""
        self._clock = clock
        self._seen: dict[str, None] = {}  # in order of arrival: the oldest is forgotten first
        self._ids_max = ids_max
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=RECEIVER_BODY_BYTES_MAX)
        app.router.add_post("/fires", self._receive)
        app.router.add_get(OWNERSHIP_PATH, self._tell_owners)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        listener = self._listener or create_server(("127.0.0.1", 0))
        host, port = listener.getsockname()[:2]
        self._endpoint = f"http://{f'[{host}]' if ':' in host else host}:{port}/fires"
        await web.SockSite(self._runner, listener).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def endpoint(self) -> str:
        """Where to send fires; known once entered."""
        return self._endpoint

    async def _receive(self, request: web.Request) -> web.Response:
        content = await request.read()
        message_id = request.headers.get("webhook-id", "")
        if not self._is_genuine(content, request):
            self.counts.refused += 1
            return web.json_response(
                {"error": "no valid webhook-signature of the last five minutes"},
                status=HTTPStatus.UNAUTHORIZED,
            )
        if message_id in self._seen:
            self.counts.duplicates += 1
            return web.json_response({"duplicate": True})
        self._on_fire(_fire_of(json.loads(content), received_at_us=int(self._clock() * SECOND_US)))
        self._remember(message_id)
        self.counts.fires += 1
        return web.json_response({"duplicate": False})

    async def _tell_owners(self, _: web.Request) -> web.Response:
        """One line a tenant; each is public, and of no use on another host."""
        lines = [ownership_text(tenant, self.endpoint) for tenant in self._tenants]
        return web.Response(text="".join(f"{line}\n" for line in lines))

    def _is_genuine(self, content: bytes, request: web.Request) -> bool:
        fields = dict(request.headers)
        for webhook in self._webhooks:
            try:
                webhook.verify(content, fields)
            except (WebhookVerificationError, ValueError):
                continue  # ValueError: the library on header values that it cannot split or decode
            return True
        return False

    def _remember(self, message_id: str) -> None:
        self._seen[message_id] = None
        while len(self._seen) > self._ids_max:
            del self._seen[next(iter(self._seen))]


def line_of(fire: ReceivedFire) -> str:
    """The demo's line for a fire: lane, trigger, attempt and how late it came."""
    again = f" attempt {fire.attempt}" if fire.attempt > 1 else ""
    return f"{fire.lane} {fire.tenant}/{fire.trigger}{again} +{fire.lateness_s * 1000:.0f} ms"


def _fire_of(message: dict[str, Any], *, received_at_us: int) -> ReceivedFire:
    return ReceivedFire(
        fire_key=message["fire_key"],
        tenant=message["tenant"],
        trigger=message["trigger"],
        scheduled_instant_us=from_text(message["scheduled_instant"]),
        due_at_us=from_text(message["due_at"]),
        origin=message["origin"],
        lane=message["lane"],
        attempt=message["attempt"],
        payload=message["payload"],
        received_at_us=received_at_us,
    )
