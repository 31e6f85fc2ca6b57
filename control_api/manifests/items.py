"""A plan: what is to become of each subject, and the changes for one transaction."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from ports.changes import Change, PutCalendar, PutTenant
from ports.records import TriggerDefinition, TriggerRecord
from schemas.api.apply import FieldChange, SubjectKind


class Phase(IntEnum):
    """The order of the changes, in which each finds its needs.

    Triggers that go make room for those that come; what they used goes last.
    """

    TRIGGER_GOES = 0
    TENANT = 1
    HOST = 2
    CALENDAR = 3
    TARGET = 4
    TRIGGER = 5
    STANDING = 6  # after the definition: a new trigger is paused before anything could be due
    REST_GOES = 7


class Subject(NamedTuple):
    """`name` is the tenant's own for a tenant."""

    kind: SubjectKind
    tenant_id: str
    name: str

    @property
    def path(self) -> str:
        """Where it stands in a manifest."""
        if self.kind == "tenant":
            return f"tenants.{self.tenant_id}"
        return f"tenants.{self.tenant_id}.{self.kind}s.{self.name}"


class Step(NamedTuple):
    phase: Phase
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerPlan:
    """A trigger before and after. `wanted` has its calendars' dates; None where it goes.

    is_paused:  after all
    """

    stored: TriggerRecord | None
    current: TriggerDefinition | None
    wanted: TriggerDefinition | None
    is_paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One subject.

    revision:  the one it has, which the plan rests on; 0 where it is new
    fields:    what differs; of a payload only as far as that is known without reading it
    """

    subject: Subject
    revision: int
    steps: tuple[Step, ...]
    fields: tuple[FieldChange, ...] = ()
    warning: str | None = None
    trigger: TriggerPlan | None = None


class Ordered(NamedTuple):
    """A change of the transaction, and the number of the item that it is of."""

    item: int
    step: Step


Held = PutCalendar | PutTenant
"""A thing put as it is, at the revision that it has: stale where somebody changed it since."""


@dataclass(frozen=True)
class Plan:
    """All items, in the order in which they are told.

    held:  what the items rest on and leave alone; not told
    """

    items: tuple[Item, ...]
    held: tuple[Held, ...] = ()

    @cached_property
    def ordered(self) -> list[Ordered]:
        """The changes in the order of their phases."""
        steps = [
            Ordered(number, step) for number, item in enumerate(self.items) for step in item.steps
        ]
        return sorted(steps, key=lambda each: each.step.phase)

    @property
    def changes(self) -> Sequence[Change]:
        """Those of the items, then what is held."""
        return [*(each.step.change for each in self.ordered), *self.held]

    @cached_property
    def fingerprint(self) -> str:
        """Of the revisions that it rests on, and of what it would do; of no payload or secret."""
        digest = hashlib.sha256()
        for item in self.items:
            fields = [field.model_dump() for field in item.fields]
            kinds = [type(step.change).__name__ for step in item.steps]
            parts = [*item.subject, item.revision, kinds, fields]
            digest.update(json.dumps(parts, sort_keys=True).encode() + b"\n")
        for each in self.held:
            digest.update(repr(each).encode() + b"\n")
        return digest.hexdigest()[:32]

    def sparing(self, numbers: Collection[int], warnings: Sequence[str]) -> "Plan":
        """The same, but these items are left as they are, each with a warning why."""
        told = dict(zip(numbers, warnings, strict=True))
        return Plan(
            tuple(
                Item(
                    subject=item.subject,
                    revision=item.revision,
                    steps=(),
                    warning=told[number],
                )
                if number in told
                else item
                for number, item in enumerate(self.items)
            ),
            self.held,
        )
