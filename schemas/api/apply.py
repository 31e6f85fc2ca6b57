"""Manifests as the API takes them, and the plan that it makes of them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scheduling.limits import (
    APPLY_MANIFESTS_MAX,
    APPLY_SELECTORS_MAX,
    FILE_NAME_CHARS_MAX,
    NAME_CHARS_MAX,
)
from scheduling.vocabulary import ChangeKind
from schemas.api.common import In, Instant, Out

SubjectKind = Literal["tenant", "calendar", "target", "trigger"]
Selector = Annotated[str, Field(min_length=1, max_length=2 * NAME_CHARS_MAX + 1)]


class ManifestIn(In):
    """One manifest: the tree under `tenants` as a YAML file has it, its secrets filled in.

    name:  what problems call it by, where there are several
    """

    name: str = Field(default="", max_length=FILE_NAME_CHARS_MAX)
    tenants: Any = Field(json_schema_extra={"type": "object"})


class ApplyIn(In):
    """Make the store as the manifests say, whole or not at all.

    dry_run:        only tell what it would do
    prune:          delete what the tenants have and the manifests do not name; tenants never
    only:           touch nothing but these, as in `acme/nightly-*`
    allow_targets:  vouch for the hosts of new targets, which takes an operator
    plan:           of a dry run before; refused if anything that it rested on has changed
    """

    manifests: list[ManifestIn] = Field(min_length=1, max_length=APPLY_MANIFESTS_MAX)
    dry_run: bool = False
    prune: bool = False
    only: list[Selector] = Field(default=[], max_length=APPLY_SELECTORS_MAX)
    allow_targets: bool = False
    plan: str | None = Field(default=None, max_length=NAME_CHARS_MAX)


class FieldChange(Out):
    """A key that differs. Of payloads and secrets only `changed` is told."""

    field: str
    before: Any = None
    after: Any = None


class PlanEntry(Out):
    """What becomes of one subject.

    next_before, next_after:  the next due times of a trigger that changes, at most three
    zone:           of the trigger, for showing them
    settled_rows:   instants that were due by then and are decided now
    stopped_fires:  waiting fires that it stops
    warning:        what its author should know
    """

    kind: SubjectKind
    tenant: str
    name: str
    change: ChangeKind
    fields: list[FieldChange] = Field(default=[])
    zone: str | None = None
    next_before: list[Instant] = Field(default=[])
    next_after: list[Instant] = Field(default=[])
    settled_rows: int = 0
    stopped_fires: int = 0
    warning: str | None = None


class ApplyOut(Out):
    """The plan, done unless it was a dry run. `plan` is to be sent with the apply of it."""

    dry_run: bool
    plan: str
    entries: list[PlanEntry]
