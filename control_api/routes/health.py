"""What probes, scrapes and receivers read without a token."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from control_api.health import Health
from control_api.routes.requests import problems
from control_api.services import Services
from schemas.api.health import Alive, CheckOut, Ready
from schemas.server_proofs import CHALLENGE_PATTERN, proof_of

router = APIRouter(tags=["health"])


@router.get(
    "/healthz",
    response_model=Alive,
    responses={status: problems()[status] for status in (422, 429)},
)
async def alive(
    request: Request,
    challenge: Annotated[str | None, Query(pattern=CHALLENGE_PATTERN)] = None,
) -> Alive:
    """The process answers; nothing of the store is asked."""
    services: Services = request.app.state.services
    instance = services.settings.instance
    if challenge is None or not instance:
        return Alive(proof=None)
    return Alive(proof=proof_of(instance, challenge))


@router.get(
    "/readyz",
    response_model=Ready,
    responses={429: problems()[429], 503: {"model": Ready, "description": "Not ready"}},
)
async def ready(request: Request, response: Response) -> Ready:
    """Whether the service can commit and decide now, check by check."""
    health: Health = request.app.state.health
    found = await run_sync(health.readiness, limiter=request.app.state.probes)
    response.status_code = 200 if found.is_ready else 503
    checks = [CheckOut(name=each.name, ok=each.ok, detail=each.detail) for each in found.checks]
    return Ready(ready=found.is_ready, checks=checks)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, 429: problems()[429]},
)
async def metrics(request: Request) -> Response:
    """The metrics as text for Prometheus; gauges of the store are read anew."""
    health: Health = request.app.state.health
    text, media_type = await run_sync(health.metrics_text, limiter=request.app.state.probes)
    return Response(text, headers={"Content-Type": media_type})


@router.get("/.well-known/jwks.json", responses={429: problems()[429]})
async def public_keys(request: Request) -> dict[str, Any]:
    """The keys with which a receiver checks attempt tokens offline (RFC 7517)."""
    services: Services = request.app.state.services
    return services.attempt_tokens.public_keys()
