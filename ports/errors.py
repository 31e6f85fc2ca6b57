"""The error tree of the ports. Adapters translate their vendor's exceptions at their edge."""


class PortError(Exception):
    """Something outside the rules failed."""


class StoreUnavailable(PortError):
    """The store cannot serve now (busy, full, unreachable): nothing was written; try again."""


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


class ChangeRefused(PortError):
    """A change was refused whole; `problems` names every field and remedy."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(self.problems)


class PayloadUnreadable(PortError):
    """The payload's key is gone or does not fit: the payload is deleted for all purposes."""
