"""The management route of manifests."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from control_api.operations import apply
from control_api.routes.requests import PLAIN, Plain, respond
from scheduling.limits import APPLY_CHANGES_MAX
from schemas.api.apply import ApplyIn, ApplyOut

router = APIRouter(tags=["apply"])


@router.post("/v1/apply", response_model=ApplyOut, responses=PLAIN)
def apply_manifests(call: Plain, response: Response, body: ApplyIn) -> BaseModel:
    """Make the store as the manifests say, in one transaction; `dry_run` tells the plan alone."""
    return respond(response, apply.apply_manifests(call, body, changes_max=APPLY_CHANGES_MAX))
