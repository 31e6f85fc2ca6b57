"""Liveness and readiness."""

from typing import Literal

from schemas.api.common import Out


class Alive(Out):
    """`proof` answers a challenge, so that whoever can read the data folder knows the server."""

    status: Literal["alive"] = "alive"
    proof: str | None


class CheckOut(Out):
    name: str
    ok: bool
    detail: str


class Ready(Out):
    """`ready` when every check holds: the service can commit, and can decide."""

    ready: bool
    checks: list[CheckOut]
