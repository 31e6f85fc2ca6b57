"""The changes that people make, as values, and what became of each."""

from dataclasses import dataclass
from enum import StrEnum

from ports.records import TargetRecord, TenantRecord, TriggerDefinition
from scheduling.vocabulary import ResumeRule


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTenant:
    """Create a tenant, or set its quotas."""

    tenant: TenantRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTarget:
    """Create or replace; without a secret the stored one is kept, or one is made."""

    target: TargetRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTrigger:
    """Create, or a new version when the definition differs; equal definitions change nothing."""

    tenant_id: str
    name: str
    definition: TriggerDefinition
    reset_fired_count: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTrigger:
    """Stop deciding; waiting fires and unplanned gaps are stopped too."""

    tenant_id: str
    name: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTrigger:
    """Ends a pause, or a quarantine whose cause is gone."""

    tenant_id: str
    name: str
    rule: ResumeRule = ResumeRule.DROP
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTrigger:
    """End a trigger for good; its rows stay. A re-created name is a new trigger."""

    tenant_id: str
    name: str
    note: str | None = None


Change = PutTenant | PutTarget | PutTrigger | PauseTrigger | ResumeTrigger | DeleteTrigger


class ChangeKind(StrEnum):
    CREATED = "created"
    EDITED = "edited"
    UNCHANGED = "unchanged"
    PAUSED = "paused"
    RESUMED = "resumed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeResult:
    """What one change did; `stopped_fires` counts waiting fires it stopped in its transaction."""

    kind: ChangeKind
    subject: str
    tenant_id: str
    trigger_id: str | None = None
    version: int | None = None
    revision: int | None = None
    from_us: int | None = None
    next_due_us: int | None = None
    settled_rows: int = 0
    stopped_fires: int = 0
