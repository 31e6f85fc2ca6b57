"""The error tree of the ports. Adapters translate their vendor's exceptions at their edge."""

from enum import StrEnum
from typing import NamedTuple


class PortError(Exception):
    """Something outside the rules failed."""


class StoreUnavailable(PortError):
    """The store cannot serve now (busy, full, unreachable): nothing was written; try again."""


class StoreFull(StoreUnavailable):
    """There is no room for the write: a person has to make some, and nothing is lost."""


class StoreRefused(PortError):
    """The store will not serve this process as it is: a person has to act."""


class StoreCorrupt(PortError):
    """The store's content is damaged; restore from a backup."""


class StoreConflict(PortError):
    """A constraint of the store refused a write that the rules thought possible."""


class SchemaTooNew(StoreRefused):
    """The store was written by a newer version; it was left untouched."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(found, known)
        self.found = found
        self.known = known

    def __str__(self) -> str:
        return (
            f"the store has schema version {self.found}, this program knows up to {self.known}: "
            "upgrade punctual, or point it at another data folder"
        )


class TzdataMismatch(StoreRefused):
    """The process's zone data is not the pinned one: it must not decide."""

    def __init__(self, pinned: str, installed: str) -> None:
        super().__init__(pinned, installed)
        self.pinned = pinned
        self.installed = installed

    def __str__(self) -> str:
        return (
            f"the store is pinned to tzdata {self.pinned}, this process has {self.installed}: "
            "install the pinned version, or run `punctual tzdata adopt`"
        )


class ProblemKind(StrEnum):
    """What kind of answer a refused change deserves."""

    INVALID = "invalid"  # the change itself is wrong
    NOT_FOUND = "not_found"  # what it names does not exist
    CONFLICT = "conflict"  # the state of things forbids it now
    STALE = "stale"  # the expected revision is not the current one
    QUOTA = "quota"
    KEY_REUSED = "key_reused"  # an idempotency key came with another request
    UNCERTAIN = "uncertain"  # the clock was set or is uncertain: try again


class ChangeProblem(NamedTuple):
    """One reason of a refusal.

    text:    for people, with field and remedy
    field:   the field at fault, dotted, relative to its change
    change:  the position of the change in its call
    """

    text: str
    kind: ProblemKind = ProblemKind.INVALID
    field: str = ""
    change: int = 0


class ChangeRefused(PortError):
    """A change was refused whole; `details` names every field and remedy."""

    def __init__(self, problems: tuple[str | ChangeProblem, ...]) -> None:
        super().__init__(problems)
        self.details = tuple(
            problem if isinstance(problem, ChangeProblem) else ChangeProblem(problem)
            for problem in problems
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """The texts alone."""
        return tuple(detail.text for detail in self.details)

    @property
    def is_stale(self) -> bool:
        """Whether an old revision is all that it was refused for: read again, and try again."""
        return {detail.kind for detail in self.details} == {ProblemKind.STALE}

    def __str__(self) -> str:
        return "; ".join(self.problems)


class PayloadUnreadable(PortError):
    """The payload's key is gone or does not fit: the payload is deleted for all purposes."""
