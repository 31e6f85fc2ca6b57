"""What every request passes before a route sees it: limits, credentials, and the body's bounds.

One ASGI layer, because the order matters: no byte of a body is kept for a caller without a valid
token, and an address that guesses tokens stands in nobody's way.
"""

import hashlib
import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from control_api.anybody import anybody
from control_api.problems import MEDIA_TYPE, ApiProblem, FieldProblem, of_port_error
from control_api.received_body import (
    ConnectionCut,
    Incoming,
    Message,
    Receive,
    Scope,
    check_shape,
    drop_rest,
    received,
)
from control_api.services import Services
from control_api.signals import tell_request
from ports.attempt_tokens import AttemptClaims
from ports.authenticator import Principal
from ports.errors import PortError
from scheduling.limits import (
    ANONYMOUS_REQUESTS_PER_MINUTE,
    HEADER_CHARS_MAX,
    REFUSED_ACTS_PER_MINUTE,
    REFUSED_TOKENS_PER_MINUTE,
)

Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_WITHOUT_TOKEN: Final = frozenset(
    {"/healthz", "/readyz", "/metrics", "/openapi.json", "/.well-known/jwks.json"}
)
OUTCOMES_PATH: Final = "/v1/outcomes"  # its callers are targets, with the token of an attempt
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_STATUS_CUT: Final = 499  # in the metrics alone, the word of proxies for it


class Edge:
    """Wraps the application; keeps the counts of callers in this process's memory."""

    def __init__(self, app: App, *, services: Services) -> None:
        self._app = app
        self._services = services
        self._counts = MovingWindowRateLimiter(MemoryStorage())
        self._anonymous = RateLimitItemPerMinute(ANONYMOUS_REQUESTS_PER_MINUTE)
        self._guesses = RateLimitItemPerMinute(REFUSED_TOKENS_PER_MINUTE)
        self._turns = CapacityLimiter(1)
        self._refusals = RateLimitItemPerMinute(REFUSED_ACTS_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_s = time.monotonic()
        status = 500

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if scope["state"].get("is_refused"):
                    principal = scope["state"]["principal"]
                    # Each refusal leaves an audit entry, which must not become a flood.
                    self._counts.hit(self._refusals, "refusals", principal.principal_id)
                if scope["path"] not in _WITHOUT_TOKEN:
                    # Tokens and signing secrets are among the answers.
                    kept = [*message.get("headers", ()), (b"cache-control", b"no-store")]
                    message = {**message, "headers": kept}
            await send(message)

        incoming = Incoming(scope, receive)
        is_held = False
        try:
            is_held = await self._serve(scope, incoming, receive=receive, send=told)
        except ConnectionCut:
            status = _STATUS_CUT
        finally:
            route = getattr(scope.get("route"), "path_format", None)
            tell_request(
                route=route,
                method=scope["method"],
                status=status,
                duration_s=time.monotonic() - started_s,
            )
        if is_held:
            await drop_rest(incoming)
            await send({"type": "http.response.body", "body": b""})

    async def _serve(
        self, scope: Scope, incoming: Incoming, *, receive: Receive, send: Send
    ) -> bool:
        """Whether the answer's end is still to be sent, behind what there is left of a body."""
        try:
            await self._admit(scope)
            body = await received(scope, incoming)
            await check_shape(scope, body)
        except (ApiProblem, PortError) as error:
            problem = error if isinstance(error, ApiProblem) else of_port_error(error)
            await _answer(problem, send, is_last=incoming.is_over)
            return not incoming.is_over
        scope["state"]["fingerprint"] = _fingerprint(scope, body)
        await self._app(scope, _replayed(body, receive), send)
        return False

    async def _admit(self, scope: Scope) -> None:
        """Put the proven caller into the scope, or refuse."""
        if _CONTROL.search(scope["path"]):
            # A pattern of the routes matches before a line's end; what is compared here does not.
            detail = "the path has a control character: leave it out"
            raise ApiProblem(400, "bad_path", detail)
        address = scope["client"][0] if scope.get("client") else "-"
        scope.setdefault("state", {})
        if self._services.authenticator is None and scope["path"] != OUTCOMES_PATH:
            scope["state"]["principal"] = anybody(dict(scope["headers"]))
            return
        if scope["path"] in _WITHOUT_TOKEN:
            if not self._counts.hit(self._anonymous, "anonymous", address):
                raise _too_many("this address")
            return
        bearer = _bearer(scope)
        # Mostly known already: a thread for each would only stand in the way of the routes.
        proven: Principal | AttemptClaims | None = self._remembered(scope["path"], bearer)
        if proven is None:
            proven = await self._proven(scope["path"], bearer, address)
        if isinstance(proven, AttemptClaims):
            scope["state"]["attempt"] = proven
            return
        principal = proven
        if not self._counts.test(self._refusals, "refusals", principal.principal_id):
            raise _too_many("this principal, for acts that were refused")
        scope["state"]["principal"] = principal

    def _remembered(self, path: str, bearer: str | None) -> Principal | None:
        authenticator = self._services.authenticator
        if bearer is None or authenticator is None or path == OUTCOMES_PATH:
            return None
        return authenticator.remembered(bearer, now_us=self._services.clock.now().wall_us)

    async def _proven(
        self, path: str, bearer: str | None, address: str
    ) -> Principal | AttemptClaims:
        """Whom the token proves, or a refusal; of `/v1/outcomes` they are counted apart.

        Good tokens come from the address of a guesser too, as from behind a proxy. They are served,
        but proofs for such an address take turns, so that they cost the routes no thread.
        """
        kind = "attempts" if path == OUTCOMES_PATH else "guesses"
        is_suspect = not self._counts.test(self._guesses, kind, address)
        limiter = self._turns if is_suspect else None
        proven = None
        if bearer is not None:
            proven = await run_sync(self._prove, path, bearer, limiter=limiter)
        if proven is not None:
            return proven
        if not self._counts.hit(self._guesses, kind, address):
            raise _too_many("this address, for tokens that were refused")
        detail = "send a valid token as `Authorization: Bearer ...`"
        if path != OUTCOMES_PATH:
            detail += "; make one with `punctual token create`"
        raise ApiProblem(401, "no_token", detail, headers={"WWW-Authenticate": "Bearer"})

    def _prove(self, path: str, bearer: str) -> Principal | AttemptClaims | None:
        if path == OUTCOMES_PATH:
            return self._services.attempt_tokens.verify(bearer)
        authenticator = self._services.authenticator
        if authenticator is None:
            return None
        return authenticator.authenticate(bearer, now_us=self._services.clock.now().wall_us)


def _bearer(scope: Scope) -> str | None:
    """The one bearer token of the request."""
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(found) != 1:
        return None
    scheme, _, token = found[0].decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _fingerprint(scope: Scope, body: bytes) -> str:
    """What must be equal in a repeat of a request: method, path, query and body."""
    digest = hashlib.sha256()
    for part in (scope["method"].encode(), scope["raw_path"], scope["query_string"], body):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again, once; then what comes is the connection's own."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _too_many(whose: str) -> ApiProblem:
    detail = f"too many requests of {whose}: try again in a minute"
    return ApiProblem(429, "too_many_requests", detail, headers={"Retry-After": "60"})


async def _answer(problem: ApiProblem, send: Send, *, is_last: bool) -> None:
    """Refuse. Where more of the body may come, the answer's end is left to be sent."""
    body = json.dumps(problem.document()).encode()
    closing = {} if is_last else {"Connection": "close"}
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.encode(), value.encode()) for name, value in (problem.headers | closing).items()),
    ]
    start = {"type": "http.response.start", "status": problem.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": not is_last})


def checked_key(text: str | None) -> str | None:
    """An Idempotency-Key that can be stored."""
    if text is None:
        return None
    if not 0 < len(text) <= HEADER_CHARS_MAX or not (text.isascii() and text.isprintable()):
        detail = f"Idempotency-Key: 1 to {HEADER_CHARS_MAX} printable characters of ASCII"
        raise ApiProblem(400, "bad_key", detail, fields=[FieldProblem("Idempotency-Key", detail)])
    return text
