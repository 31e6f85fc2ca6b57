"""Which fires a reader wants."""

from dataclasses import dataclass

from ports.records import FireRecord
from scheduling.vocabulary import Cause, FireState


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which fires are wanted; times in microseconds, both ends included."""

    tenant_id: str | None
    trigger_id: str | None
    states: frozenset[FireState]
    causes: frozenset[Cause]
    from_us: int | None
    through_us: int | None
    limit: int
    expand: bool

    def takes(self, row: FireRecord) -> bool:
        """For rows that were not selected by the store."""
        return (
            self.trigger_id in (None, row.key.trigger_id)
            and self.tenant_id in (None, row.key.tenant_id)
            and (not self.states or row.state in self.states)
            and (not self.causes or row.cause in self.causes)
        )
