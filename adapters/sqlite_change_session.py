"""One call of `apply`: each kind of change, worked inside the caller's transaction."""

import json
import sqlite3
from functools import singledispatchmethod

from adapters.sqlite_audit_row import insert_audit
from adapters.sqlite_changes import change_span
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_decisions import DueRow, view_of
from adapters.sqlite_definitions import (
    definition_problems,
    insert_version,
    is_current,
    put_secret,
    read_payload,
)
from adapters.sqlite_spans import SpanChange, TriggerRow
from ports.changes import (
    ChangeKind,
    ChangeResult,
    DeleteTrigger,
    PauseTrigger,
    PutTarget,
    PutTenant,
    PutTrigger,
    ResumeTrigger,
)
from ports.errors import PayloadUnreadable
from ports.records import (
    AuditRecord,
    TargetRecord,
    TriggerDefinition,
)
from scheduling.decide import look_ahead
from scheduling.decision import Decision
from scheduling.errors import RuleError
from scheduling.keys import partition_of, trigger_id_of
from scheduling.limits import NOTE_CHARS_MAX
from scheduling.vocabulary import SpanKind, TriggerState


class Refused(Exception):
    """One change's problems, collected until all changes were looked at."""


class ChangeSession:
    """One call of `apply`: its connection, its time, its actor and what it has counted."""

    def __init__(
        self, connection: sqlite3.Connection, context: SqliteContext, *, now_us: int, actor: str
    ) -> None:
        self.connection = connection
        self.context = context
        self.sql = context.sql
        self.now_us = now_us
        self.actor = actor
        self.live_counts: dict[str, int] = {}

    @singledispatchmethod
    def apply(self, change: object) -> ChangeResult:
        raise TypeError(f"not a change: {type(change).__name__}")

    @apply.register
    def _(self, change: PutTenant) -> ChangeResult:
        tenant = change.tenant
        found = self.connection.execute(self.sql["registry_tenant"], (tenant.tenant_id,)).fetchone()
        wanted = (
            tenant.tenant_id,
            tenant.quota_triggers,
            tenant.quota_dispatch_per_s,
            tenant.quota_inflight,
            tenant.catchup_rate_pct,
            tenant.smear_s,
        )
        if found == wanted:
            return self._result(ChangeKind.UNCHANGED, tenant.tenant_id, tenant.tenant_id)
        self.connection.execute(self.sql["registry_put_tenant"], (*wanted, self.now_us))
        self._audit("tenant_put", tenant.tenant_id, tenant.tenant_id, prior=found)
        kind = ChangeKind.EDITED if found else ChangeKind.CREATED
        return self._result(kind, tenant.tenant_id, tenant.tenant_id)

    @apply.register
    def _(self, change: PutTarget) -> ChangeResult:
        target = change.target
        self._need_tenant(target.tenant_id)
        key = (target.tenant_id, target.target_id)
        found = self.connection.execute(self.sql["registry_target"], key).fetchone()
        secret_ref, previous_ref = (found[3], found[4]) if found else (None, None)
        stored = self._secret(target, secret_ref)
        if stored is None or target.secret not in (None, stored):
            # Without its key the old one signs nothing any more.
            previous_ref = None if stored is None else secret_ref
            secret_ref = put_secret(
                self.connection,
                self.context,
                target,
                secret=target.secret,
                previous_ref=secret_ref,
                now_us=self.now_us,
            )
        wanted = (target.endpoint, target.timeout_s, target.kind, secret_ref, previous_ref)
        if found == wanted:
            return self._result(ChangeKind.UNCHANGED, target.target_id, target.tenant_id)
        self.connection.execute(
            self.sql["registry_put_target"],
            (
                *key,
                target.kind,
                target.endpoint,
                target.timeout_s,
                secret_ref,
                previous_ref,
                self.now_us,
                self.now_us,
            ),
        )
        self._audit("target_put", *key, prior=found and found[:3])
        kind = ChangeKind.EDITED if found else ChangeKind.CREATED
        return self._result(kind, target.target_id, target.tenant_id)

    @apply.register
    def _(self, change: PutTrigger) -> ChangeResult:
        tenant_id, name, definition = change.tenant_id, change.name, change.definition
        self._need_tenant(tenant_id)
        problems = definition_problems(tenant_id, name, definition)
        target_key = (tenant_id, definition.target_id)
        if self.connection.execute(self.sql["registry_target"], target_key).fetchone() is None:
            problems.append(f"target: {tenant_id} has no target {definition.target_id!r}")
        if problems:
            raise Refused(*(f"{tenant_id}/{name}: {problem}" for problem in problems))
        trigger = self._find(tenant_id, name)
        if trigger is None:
            return self._create(tenant_id, name, definition)
        key = (tenant_id, trigger.trigger_id)
        if not change.reset_fired_count and is_current(
            self.connection, self.context, key, version=trigger.version, definition=definition
        ):
            return self._result(ChangeKind.UNCHANGED, name, tenant_id, trigger)
        version = trigger.version + 1
        insert_version(
            self.connection,
            self.context,
            key,
            version=version,
            definition=definition,
            now_us=self.now_us,
            actor=self.actor,
        )
        paused = trigger.state is TriggerState.PAUSED
        return self._change(
            tenant_id,
            name,
            trigger,
            SpanChange(
                change=ChangeKind.EDITED,
                kind=SpanKind.PAUSED if paused else SpanKind.LIVE,
                version=version,
                note=self._pause_note(key) if paused else None,
                reset_fired_count=change.reset_fired_count,
            ),
        )

    @apply.register
    def _(self, change: PauseTrigger) -> ChangeResult:
        _check_note(change.note)
        trigger = self._need(change.tenant_id, change.name)
        if trigger.state is TriggerState.PAUSED:
            return self._result(ChangeKind.UNCHANGED, change.name, change.tenant_id, trigger)
        return self._change(
            change.tenant_id,
            change.name,
            trigger,
            SpanChange(
                change=ChangeKind.PAUSED,
                kind=SpanKind.PAUSED,
                version=trigger.version,
                note=change.note,
            ),
        )

    @apply.register
    def _(self, change: ResumeTrigger) -> ChangeResult:
        _check_note(change.note)
        trigger = self._need(change.tenant_id, change.name)
        if trigger.state not in (TriggerState.PAUSED, TriggerState.QUARANTINED):
            return self._result(ChangeKind.UNCHANGED, change.name, change.tenant_id, trigger)
        return self._change(
            change.tenant_id,
            change.name,
            trigger,
            SpanChange(
                change=ChangeKind.RESUMED,
                kind=SpanKind.LIVE,
                version=trigger.version,
                resume_rule=change.rule,
                note=change.note,
            ),
        )

    @apply.register
    def _(self, change: DeleteTrigger) -> ChangeResult:
        _check_note(change.note)
        trigger = self._need(change.tenant_id, change.name)
        self.live_counts.pop(change.tenant_id, None)
        return self._change(
            change.tenant_id,
            change.name,
            trigger,
            SpanChange(
                change=ChangeKind.DELETED,
                kind=SpanKind.DELETED,
                version=trigger.version,
                note=change.note,
            ),
        )

    def _create(self, tenant_id: str, name: str, definition: TriggerDefinition) -> ChangeResult:
        self._need_quota(tenant_id)
        execute = self.connection.execute
        (generation,) = execute(self.sql["registry_generation"], (tenant_id, name)).fetchone()
        trigger_id = trigger_id_of(tenant_id, name, generation=generation)
        trigger = TriggerRow(trigger_id, TriggerState.LIVE, 1, 0, partition_of(trigger_id))
        key = (tenant_id, trigger_id)
        now_us, partition_id = self.now_us, trigger.partition_id
        execute(self.sql["registry_insert_trigger"], (*key, name, partition_id, now_us, now_us))
        insert_version(
            self.connection,
            self.context,
            key,
            version=1,
            definition=definition,
            now_us=now_us,
            actor=self.actor,
        )
        execute(
            self.sql["commit_insert_span"],
            (*key, 1, now_us, SpanKind.LIVE.value, 1, None, None, self.actor),
        )
        row = DueRow(*key, 1, now_us, now_us, None, 0)
        view = view_of(self.connection, self.context, row, is_due=True)
        ahead = look_ahead(Decision((), (), now_us, None), view)
        execute(
            self.sql["rebuild_insert_row"],
            (*key, partition_id, 1, 1, now_us, now_us, ahead.next_due_us, None, 0),
        )
        if ahead.finished:
            execute(self.sql["commit_finish_trigger"], key)
        self.live_counts[tenant_id] += 1
        self._audit("trigger_created", tenant_id, name, prior=None)
        body = {"name": name, "kind": "created", "version": 1, "revision": 1, "from_us": now_us}
        execute(
            self.sql["commit_insert_outbox"], (*key, "TriggerChanged", json.dumps(body), now_us)
        )
        return ChangeResult(
            kind=ChangeKind.CREATED,
            subject=name,
            tenant_id=tenant_id,
            trigger_id=trigger_id,
            version=1,
            revision=1,
            from_us=now_us,
            next_due_us=ahead.next_due_us,
        )

    def _change(
        self, tenant_id: str, name: str, trigger: TriggerRow, change: SpanChange, /
    ) -> ChangeResult:
        try:
            return change_span(
                self.connection,
                self.context,
                trigger,
                tenant_id=tenant_id,
                name=name,
                change=change,
                now_us=self.now_us,
                actor=self.actor,
            )
        except RuleError as error:
            raise Refused(
                f"{tenant_id}/{name}: recurrence: {error}: put a definition that can be evaluated"
            ) from error

    def _find(self, tenant_id: str, name: str) -> TriggerRow | None:
        row = self.connection.execute(self.sql["registry_trigger"], (tenant_id, name)).fetchone()
        return None if row is None else TriggerRow(row[0], TriggerState(row[1]), *row[2:])

    def _need(self, tenant_id: str, name: str) -> TriggerRow:
        trigger = self._find(tenant_id, name)
        if trigger is None:
            raise Refused(f"trigger: {tenant_id} has no trigger {name!r}")
        return trigger

    def _need_tenant(self, tenant_id: str) -> None:
        if self.connection.execute(self.sql["registry_tenant"], (tenant_id,)).fetchone() is None:
            raise Refused(f"tenant: there is no tenant {tenant_id!r}")

    def _need_quota(self, tenant_id: str) -> None:
        if tenant_id not in self.live_counts:
            (count,) = self.connection.execute(
                self.sql["registry_live_count"], (tenant_id,)
            ).fetchone()
            self.live_counts[tenant_id] = count
        quota = self.connection.execute(self.sql["registry_tenant"], (tenant_id,)).fetchone()[1]
        if self.live_counts[tenant_id] >= quota:
            raise Refused(
                f"quota_triggers: {tenant_id} may have {quota} triggers and this is one more: "
                "raise the quota, or ask for fewer"
            )

    def _pause_note(self, key: tuple[str, str]) -> str | None:
        found = self.connection.execute(self.sql["registry_pause_note"], key).fetchone()
        return None if found is None else found[0]

    def _secret(self, target: TargetRecord, secret_ref: str | None) -> str | None:
        """The stored secret; None without one, or without the key to read it."""
        try:
            stored = read_payload(
                self.connection, self.context, target.tenant_id, payload_ref=secret_ref
            )
        except PayloadUnreadable:
            return None
        return None if stored is None else stored.decode()

    def _audit(self, action: str, tenant_id: str, subject: str, *, prior: object) -> None:
        prior_value = None if prior is None else json.dumps(prior)
        insert_audit(
            self.connection,
            self.sql,
            AuditRecord(
                self.now_us, self.actor, action, tenant_id, subject, prior_value=prior_value
            ),
        )

    def _result(
        self, kind: ChangeKind, subject: str, tenant_id: str, trigger: TriggerRow | None = None, /
    ) -> ChangeResult:
        return ChangeResult(
            kind=kind,
            subject=subject,
            tenant_id=tenant_id,
            trigger_id=trigger and trigger.trigger_id,
            version=trigger and trigger.version,
            revision=trigger and trigger.revision,
        )


def _check_note(note: str | None) -> None:
    if note is not None and len(note) > NOTE_CHARS_MAX:
        raise Refused(f"note: has {len(note)} characters; at most {NOTE_CHARS_MAX}")
