"""Refusals as RFC 9457 problem documents: each names the field and the remedy."""

import errno
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from ports.errors import (
    ChangeRefused,
    PortError,
    ProblemKind,
    StoreFull,
    StoreUnavailable,
    TzdataMismatch,
)
from scheduling.limits import ECHO_CHARS_MAX, PROBLEMS_TOLD_MAX

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
_TOLD_IN_DETAIL: Final = 3
# By whether the change was made before the rest of the request failed.
_OUTCOME: Final = {False: "nothing was changed", True: "the change was made all the same"}
_AGAIN: Final = {
    False: "send the request again",
    True: "read what it brought, or send it again under its Idempotency-Key",
}
_LACKS: Final = {
    errno.EMFILE: ("no file", "raise its limit of open files (LimitNOFILE=, ulimit -n)"),
    errno.ENFILE: ("no file", "raise the machine's limit of open files (fs.file-max)"),
    errno.ENOSPC: ("no room on its disk", "make room"),
    errno.EDQUOT: ("no room on its disk", "make room"),
    errno.ENOMEM: ("no memory", "give it more"),
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
    fields:      all at fault; the first of many are told, the rest is counted
    headers:     to send along, such as Retry-After
    is_refusal:  for want of a grant; too many of them are answered 429
    left_out:    how many more fields are at fault
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
        left_out: int = 0,
    ) -> None:
        super().__init__(status, code, detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = _first_of(tuple(fields), left_out)
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


def sentence_of(texts: Sequence[str], left_out: int = 0) -> str:
    """The first few, for the detail of a refusal whose fields tell the others."""
    told = list(texts[:_TOLD_IN_DETAIL])
    left_out += len(texts) - len(told)
    if left_out:
        told.append(f"and {left_out:,} more problems")
    return "; ".join(told)


def _first_of(fields: tuple[FieldProblem, ...], left_out: int) -> tuple[FieldProblem, ...]:
    told = fields[:PROBLEMS_TOLD_MAX]
    left_out += len(fields) - len(told)
    return (*told, FieldProblem("errors", f"and {left_out:,} more problems")) if left_out else told


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
        sentence_of(refused.problems),
        fields=[FieldProblem(detail.field, detail.text) for detail in refused.details],
        headers=headers,
    )


def of_port_error(error: PortError, *, is_made: bool = False) -> ApiProblem:
    """What a caller is told when something outside the rules failed.

    is_made: the change was committed, and what failed came after it
    """
    if isinstance(error, ChangeRefused):
        return of_refusal(error)
    if isinstance(error, StoreFull):
        return _lacking("store_full", "the disk of the store is full", "make room", is_made=is_made)
    if isinstance(error, StoreUnavailable):
        text = f"the store cannot serve just now; {_OUTCOME[is_made]}: {_AGAIN[is_made]}"
        return ApiProblem(503, "store_unavailable", text, headers={"Retry-After": "1"})
    if isinstance(error, TzdataMismatch):
        return ApiProblem(503, "tzdata_mismatch", str(error))
    text = f"the store refuses to serve; {_OUTCOME[is_made]}: its operator has to act"
    return ApiProblem(503, "store_refused", text)


def of_lack(error: OSError | MemoryError, *, is_made: bool = False) -> ApiProblem | None:
    """What a caller is told when the process has run out of something; None for other errors."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else error.errno
    if number not in _LACKS:
        return None
    lack, remedy = _LACKS[number]
    return _lacking("no_resources", f"the service has {lack} left", remedy, is_made=is_made)


def _lacking(code: str, what: str, remedy: str, *, is_made: bool) -> ApiProblem:
    text = f"{what}; {_OUTCOME[is_made]}: its operator has to {remedy}; then {_AGAIN[is_made]}"
    return ApiProblem(503, code, text, headers={"Retry-After": "10"})
