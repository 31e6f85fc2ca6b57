"""What an operation answers, before any protocol."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from ports.changes import ChangeResult

Body = TypeVar("Body")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Body]):
    """etag:      of the subject as it is now, with its quotes
    location:  of what was created
    replayed:  an earlier request with the same idempotency key did this
    """

    body: Body
    status: int = 200
    etag: str | None = None
    location: str | None = None
    replayed: bool = False


def etag_of(revision: int | None, *, trigger_id: str | None = None) -> str | None:
    """`"7"`, or `"t0123.7"` for triggers, whose names come again."""
    if revision is None:
        return None
    return f'"{revision}"' if trigger_id is None else f'"{trigger_id}.{revision}"'


def etag_after(result: ChangeResult) -> str | None:
    """The ETag of a change's subject."""
    return etag_of(result.revision, trigger_id=result.trigger_id)
