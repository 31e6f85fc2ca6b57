"""The route of targets: what became of the work."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from control_api.edge import OUTCOMES_PATH
from control_api.operations import outcomes
from control_api.routes.requests import check_query, problems, respond
from schemas.api.outcomes import OutcomeIn, OutcomeOut

router = APIRouter(tags=["outcomes"])


@router.post(OUTCOMES_PATH, response_model=OutcomeOut, responses=problems(413, 415))
def report_outcome(request: Request, response: Response, body: OutcomeIn) -> BaseModel:
    """Report what a fire's work came to, with the bearer token of its attempt."""
    check_query(request)
    reply = outcomes.report_outcome(request.app.state.services, request.state.attempt, body)
    return respond(response, reply)
