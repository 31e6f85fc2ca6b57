"""The route of previews, which changes nothing and needs no trigger."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from control_api.operations import preview
from control_api.routes.requests import Read, problems, respond
from schemas.api.preview import PreviewIn, PreviewOut

router = APIRouter(tags=["preview"])


@router.post("/v1/preview", response_model=PreviewOut, responses=problems(415))
def preview_schedule(call: Read, response: Response, body: PreviewIn) -> BaseModel:
    """What a schedule means: its next instants, the odd nights of a year, a second opinion."""
    return respond(response, preview.preview(call, body))
