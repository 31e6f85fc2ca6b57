"""What an operation answers, before any protocol."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from ports.changes import ChangeResult
from ports.records import TargetRecord

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


def etag_of(revision: int | None, *, mark: str | None = None) -> str | None:
    """`"7"`, or `"t0123.7"` for triggers and targets, whose names come again."""
    if revision is None:
        return None
    return f'"{revision}"' if mark is None else f'"{mark}.{revision}"'


def etag_of_target(target: TargetRecord) -> str | None:
    """Its creation makes the difference to a deleted target of the same name."""
    return etag_of(target.revision, mark=mark_of_target(target))


def mark_of_target(target: TargetRecord) -> str:
    """What its ETags begin with."""
    return f"c{target.created_us:x}"


def etag_after(result: ChangeResult) -> str | None:
    """The ETag of a change's subject, but for targets."""
    return etag_of(result.revision, mark=result.trigger_id)
