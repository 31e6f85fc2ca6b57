"""One call of `apply`: what every kind of change needs inside the caller's transaction.

The kinds themselves stand in modules by subject; `sqlite_change_kinds` knows them all.
"""

import json
import sqlite3
from collections.abc import Mapping

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_refused import refused, stale
from adapters.sqlite_spans import TriggerRow
from ports.changes import ChangeKind, ChangeResult
from ports.errors import ProblemKind
from ports.records import AuditRecord
from scheduling.limits import NOTE_CHARS_MAX
from scheduling.vocabulary import TriggerState


class ChangeSession:
    """Its connection, its time and its actor."""

    def __init__(
        self, connection: sqlite3.Connection, context: SqliteContext, *, now_us: int, actor: str
    ) -> None:
        self.connection = connection
        self.context = context
        self.sql = context.sql
        self.now_us = now_us
        self.actor = actor

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        """Run a named statement."""
        return self.connection.execute(self.sql[statement], values)

    def audit(
        self,
        action: str,
        tenant_id: str | None,
        subject: str,
        *,
        prior: Mapping[str, object] | None = None,
        new: Mapping[str, object] | None = None,
        note: str | None = None,
    ) -> None:
        """One entry; `prior` is what was before, by field name, `new` what differs from it."""
        entry = AuditRecord(
            self.now_us,
            self.actor,
            action,
            tenant_id,
            subject,
            prior_value=None if prior is None else json.dumps(prior),
            new_value=json.dumps(new) if new else None,
            note=note,
        )
        insert_audit(self.connection, self.sql, entry)

    def need_tenant(self, tenant_id: str) -> None:
        """Refused as not found unless there is the tenant."""
        if self.execute("registry_tenant", tenant_id).fetchone() is None:
            text = f"tenant: there is no tenant {tenant_id!r}"
            raise refused(text, ProblemKind.NOT_FOUND, "tenant")

    def find_trigger(self, tenant_id: str, name: str) -> TriggerRow | None:
        """The undeleted trigger of that name."""
        row = self.execute("registry_trigger", tenant_id, name).fetchone()
        return None if row is None else TriggerRow(row[0], TriggerState(row[1]), *row[2:])

    def need_trigger(
        self, tenant_id: str, name: str, *, expected_revision: int | None = None
    ) -> TriggerRow:
        """Refused as not found without one, as stale when it has another revision."""
        trigger = self.find_trigger(tenant_id, name)
        if trigger is None:
            text = f"trigger: {tenant_id} has no trigger {name!r}"
            raise refused(text, ProblemKind.NOT_FOUND, "name")
        check_revision(f"trigger {tenant_id}/{name}", expected_revision, found=trigger.revision)
        return trigger


def differing(
    prior: Mapping[str, object] | None, now: Mapping[str, object]
) -> dict[str, object] | None:
    """Of what is now, what was different; None where nothing was before."""
    if prior is None:
        return None
    return {name: value for name, value in now.items() if prior.get(name) != value}


def check_note(note: str | None) -> None:
    """Refused when it is too long."""
    if note is not None and len(note) > NOTE_CHARS_MAX:
        text = f"note: has {len(note)} characters; at most {NOTE_CHARS_MAX}"
        raise refused(text, ProblemKind.INVALID, "note")


def check_revision(
    subject: str, expected: int | None, *, found: int, must_exist: bool = False
) -> None:
    """Refused as stale when another revision was expected; `found` 0 says that there is none."""
    if must_exist and not found:
        text = f"revision: {subject} does not exist, so there is nothing to replace"
        raise refused(text, ProblemKind.STALE, "revision")
    if expected is not None and expected != found:
        raise stale(subject, expected, found)


def trigger_result(
    kind: ChangeKind, tenant_id: str, name: str, trigger: TriggerRow
) -> ChangeResult:
    """The result of a change that left the trigger as it is."""
    return ChangeResult(
        kind=kind,
        subject=name,
        tenant_id=tenant_id,
        trigger_id=trigger.trigger_id,
        version=trigger.version,
        revision=trigger.revision,
    )
