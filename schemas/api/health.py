"""Liveness and readiness."""

from typing import Literal

from schemas.api.common import Out


class Alive(Out):
    """`instance` names the process, so that a client knows it again."""

    status: Literal["alive"] = "alive"
    instance: str


class CheckOut(Out):
    name: str
    ok: bool
    detail: str


class Ready(Out):
    """`ready` when every check holds: the service can commit, and can decide."""

    ready: bool
    checks: list[CheckOut]
