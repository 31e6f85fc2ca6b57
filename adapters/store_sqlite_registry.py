"""The registry on SQLite: definitions, and every change as one transaction."""

from collections.abc import Sequence
from typing import Any

from adapters.sqlite_change_session import ChangeSession, Refused
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_definitions import read_payload
from ports.changes import Change, ChangeResult
from ports.errors import ChangeRefused
from ports.records import TargetRecord, TenantRecord, TriggerDefinition, TriggerRecord
from ports.registry import RegistryPort
from scheduling.instants import SECOND_US
from scheduling.vocabulary import TriggerState


class _DryRun(Exception):
    """Ends a dry run's transaction without committing it."""


class SqliteRegistry(RegistryPort):
    """See the port; changes go through one writer transaction."""

    def __init__(self, context: SqliteContext) -> None:
        self._context = context
        self._sql = context.sql

    def apply(
        self, changes: Sequence[Change], *, now_us: int, actor: str, dry_run: bool = False
    ) -> list[ChangeResult]:
        results: list[ChangeResult] = []
        problems: list[str] = []
        try:
            with self._context.versions.changing(), self._context.database.write() as connection:
                self._context.check_pin(connection)
                session = ChangeSession(connection, self._context, now_us=now_us, actor=actor)
                for change in changes:
                    try:
                        results.append(session.apply(change))
                    except Refused as refused:
                        problems += refused.args
                if problems:
                    raise ChangeRefused(tuple(problems))
                if dry_run:
                    raise _DryRun
        except _DryRun:
            pass
        return results

    def tenants(self) -> list[TenantRecord]:
        with self._context.database.read() as connection:
            rows = connection.execute(self._sql["registry_tenants"]).fetchall()
        return [
            TenantRecord(
                tenant_id=row[0],
                quota_triggers=row[1],
                quota_dispatch_per_s=row[2],
                quota_inflight=row[3],
                catchup_rate_pct=row[4],
                smear_s=row[5],
            )
            for row in rows
        ]

    def targets(self, tenant_id: str) -> list[TargetRecord]:
        with self._context.database.read() as connection:
            rows = connection.execute(self._sql["registry_targets"], (tenant_id,)).fetchall()
        return [
            TargetRecord(
                tenant_id=tenant_id,
                target_id=row[0],
                endpoint=row[1],
                timeout_s=row[2],
                kind=row[3],
            )
            for row in rows
        ]

    def triggers(
        self, tenant_id: str | None = None, *, after: tuple[str, str] | None = None, limit: int
    ) -> list[TriggerRecord]:
        after_tenant, after_name = after or ("", "")
        parameters = {
            "tenant_id": tenant_id,
            "after_tenant": after_tenant,
            "after_name": after_name,
            "limit": limit,
        }
        with self._context.database.read() as connection:
            rows = connection.execute(self._sql["registry_triggers"], parameters).fetchall()
        return [_trigger_record(row) for row in rows]

    def find_triggers(self, name: str, *, tenant_id: str | None = None) -> list[TriggerRecord]:
        parameters = {"tenant_id": tenant_id, "name": name}
        with self._context.database.read() as connection:
            rows = connection.execute(self._sql["registry_find_triggers"], parameters).fetchall()
        return [_trigger_record(row) for row in rows]

    def definition(
        self, tenant_id: str, trigger_id: str, *, version: int
    ) -> TriggerDefinition | None:
        key = (tenant_id, trigger_id, version)
        try:
            with self._context.database.read() as connection:
                facts = self._context.versions.facts(connection, key)
        except KeyError:
            return None
        return TriggerDefinition(
            recurrence=facts.recurrence,
            zone=facts.zone,
            target_id=facts.target_id,
            gap_rule=facts.gap_rule,
            fold_rule=facts.fold_rule,
            starts_us=facts.starts_us,
            ends_us=facts.ends_us,
            exclusions=facts.exclusions,
            max_fires=facts.max_fires,
            smear_s=facts.smear_us // SECOND_US,
            missed_policy=facts.missed_policy,
            overlap_policy=facts.overlap_policy,
            catchup_horizon_s=facts.horizon_us // SECOND_US,
            horizon_source=facts.horizon_source,
            attempt_budget=facts.attempt_budget,
            retry_window_s=facts.retry_window_us // SECOND_US,
            run_timeout_s=facts.run_timeout_us // SECOND_US,
            outcome_window_s=facts.outcome_window_us // SECOND_US,
            response_is_outcome=facts.response_is_outcome,
        )

    def target_secret(self, tenant_id: str, target_id: str) -> str | None:
        key = (tenant_id, target_id)
        with self._context.database.read() as connection:
            found = connection.execute(self._sql["registry_target"], key).fetchone()
            if found is None:
                return None
            secret = read_payload(connection, self._context, tenant_id, payload_ref=found[3])
        return None if secret is None else secret.decode()


def _trigger_record(row: tuple[Any, ...]) -> TriggerRecord:
    return TriggerRecord(
        tenant_id=row[0],
        trigger_id=row[1],
        name=row[2],
        state=TriggerState(row[3]),
        version=row[4],
        revision=row[5],
        partition_id=row[6],
        pause_note=row[7],
        quarantine_error=row[8],
        decided_through_us=row[9],
        next_due_us=row[10],
        fired_count=row[11],
        created_us=row[12],
    )
