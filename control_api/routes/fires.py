"""Management routes of fires: what people do about a single one."""

from typing import Annotated

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel

from control_api.operations import fires
from control_api.routes.paths import FIRE
from control_api.routes.requests import PLAIN, Plain, respond
from schemas.api.fires import FireCancelled
from schemas.api.triggers import NoteIn

router = APIRouter(tags=["fires"])


@router.post(FIRE + ":cancel", response_model=FireCancelled, responses=PLAIN)
def cancel_fire(
    call: Plain,
    response: Response,
    fire_key: str,
    body: Annotated[NoteIn, Body()] = NoteIn(),  # noqa: B008 -- frozen
) -> BaseModel:
    """Stop one fire that waits; what is under way is not called back."""
    return respond(response, fires.cancel_fire(call, fire_key, body))
