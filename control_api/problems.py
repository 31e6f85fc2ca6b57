"""Refusals as RFC 9457 problem documents: each names the field and the remedy."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ports.errors import (
    ChangeRefused,
    PortError,
    ProblemKind,
    StoreUnavailable,
    TzdataMismatch,
)
from scheduling.limits import ECHO_CHARS_MAX

MEDIA_TYPE: Final = "application/problem+json"

_STATUS: Final = {
    ProblemKind.INVALID: 422,
    ProblemKind.NOT_FOUND: 404,
    ProblemKind.CONFLICT: 409,
    ProblemKind.STALE: 412,
    ProblemKind.QUOTA: 409,
    ProblemKind.KEY_REUSED: 422,
    ProblemKind.UNCERTAIN: 503,
}
_TITLES: Final = {
    400: "The request cannot be read",
    401: "No valid token",
    403: "The token does not allow this",
    404: "There is no such thing",
    405: "Wrong method",
    408: "Too slow",
    409: "The state of things forbids this now",
    412: "Somebody else was faster",
    413: "The body is too big",
    415: "Wrong content type",
    422: "The request is wrong",
    428: "Say what you replace",
    429: "Too many requests",
    500: "A fault of the service",
    503: "The service cannot do this now",
}


class FieldProblem(NamedTuple):
    """One field at fault; `detail` says what is wrong and what to do."""

    field: str
    detail: str


class ApiProblem(Exception):
    """A request that is refused.

    code:        a stable word for programs
    detail:      one sentence for people, with the remedy
    headers:     to send along, such as Retry-After
    is_refusal:  for want of a grant; too many of them are answered 429
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        fields: Iterable[FieldProblem] = (),
        headers: dict[str, str] | None = None,
        is_refusal: bool = False,
    ) -> None:
        super().__init__(status, code, detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = tuple(fields)
        self.headers = headers or {}
        self.is_refusal = is_refusal

    def document(self) -> dict[str, Any]:
        """The body. `errors` is an extension member: every field at fault."""
        body: dict[str, Any] = {
            "type": f"urn:punctual:problem:{self.code}",
            "title": _TITLES[self.status],
            "status": self.status,
            "detail": self.detail,
        }
        if self.fields:
            body["errors"] = [each._asdict() for each in self.fields]
        return body


def invalid(field: str, detail: str) -> ApiProblem:
    """One field of the request that is wrong."""
    return ApiProblem(422, "invalid", f"{field}: {detail}", fields=[FieldProblem(field, detail)])


def not_found(what: str, detail: str) -> ApiProblem:
    """`what` is the kind of thing that is missing, such as `trigger`."""
    return ApiProblem(404, "not_found", f"{what}: {detail}", fields=[FieldProblem(what, detail)])


def no_tenant(tenant_id: str, *, is_refusal: bool = False) -> ApiProblem:
    """Of a tenant that does not exist, and of one that the caller may not know of."""
    detail = f"tenant: there is no tenant {shown(tenant_id)}"
    fields = [FieldProblem("tenant", detail.removeprefix("tenant: "))]
    return ApiProblem(404, "not_found", detail, fields=fields, is_refusal=is_refusal)


def shown(text: str) -> str:
    """A name that somebody sent, as a message may show it."""
    return repr(text if len(text) <= ECHO_CHARS_MAX else text[:ECHO_CHARS_MAX] + "...")


def of_refusal(refused: ChangeRefused) -> ApiProblem:
    """The document of a refused change; of several kinds the worst comes first."""
    order = list(_STATUS)
    first = min(refused.details, key=lambda detail: order.index(detail.kind))
    headers = {"Retry-After": "10"} if first.kind is ProblemKind.UNCERTAIN else {}
    return ApiProblem(
        _STATUS[first.kind],
        first.kind.value,
        str(refused),
        fields=[FieldProblem(detail.field, detail.text) for detail in refused.details],
        headers=headers,
    )


def of_port_error(error: PortError) -> ApiProblem:
    """What a caller is told when something outside the rules failed: nothing was changed."""
    if isinstance(error, ChangeRefused):
        return of_refusal(error)
    if isinstance(error, StoreUnavailable):
        text = "the store cannot serve just now; nothing was changed: send the request again"
        return ApiProblem(503, "store_unavailable", text, headers={"Retry-After": "1"})
    if isinstance(error, TzdataMismatch):
        return ApiProblem(503, "tzdata_mismatch", str(error))
    text = "the store refuses to serve; nothing was changed: its operator has to act"
    return ApiProblem(503, "store_refused", text)
