"""The registry on SQLite: definitions, and every change as one transaction."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from adapters.sqlite_change_kinds import apply_change
from adapters.sqlite_change_session import ChangeSession
from adapters.sqlite_context import SqliteContext
from adapters.sqlite_definitions import definition_of, read_payload
from adapters.sqlite_group_commit import GroupCommit
from adapters.sqlite_horizons import held_horizon
from adapters.sqlite_idempotency import find_results, keep_results
from adapters.sqlite_refused import Refused
from adapters.sqlite_targets import read_target, read_target_shown, target_record
from adapters.sqlite_tenant_rows import calendar_record, tenant_record
from adapters.sqlite_trigger_rows import trigger_record
from ports.changes import Change, ChangeResult, IdempotentRequest
from ports.errors import ChangeProblem, ChangeRefused
from ports.records import (
    AllowedHost,
    CalendarRecord,
    HeldHorizon,
    SpanRecord,
    TargetRecord,
    TenantRecord,
    TriggerDefinition,
    TriggerRecord,
)
from ports.registry import RegistryPort
from scheduling.limits import PAGE_ROWS_DEFAULT
from scheduling.vocabulary import ResumeRule, SpanKind, TriggerState

_ALL: Final = -1  # rows
_BEHIND_EVERY_NAME: Final = chr(0x10FFFF)  # sorts after whatever a name may go on with


class _DryRun(Exception):
    """Ends a dry run without committing it."""

    def __init__(self, results: list[ChangeResult]) -> None:
        super().__init__()
        self.results = results


class SqliteRegistry(RegistryPort):
    """See the port; changes that come together share a transaction."""

    def __init__(self, context: SqliteContext) -> None:
        self._context = context
        self._sql = context.sql
        self._group = GroupCommit(context.database, context.versions)

    def apply(
        self,
        changes: Sequence[Change],
        *,
        now_us: int,
        actor: str,
        dry_run: bool = False,
        request: IdempotentRequest | None = None,
    ) -> list[ChangeResult]:
        if not changes:
            return self._earlier(request, now_us)

        def work(connection: sqlite3.Connection) -> list[ChangeResult]:
            if request is not None:
                found = find_results(connection, self._context, request, now_us=now_us)
                if found is not None:
                    return found
            self._context.check_pin(connection)
            session = ChangeSession(connection, self._context, now_us=now_us, actor=actor)
            results = _apply_all(session, changes)
            if dry_run:
                raise _DryRun(results)
            if request is not None:
                keep_results(
                    connection,
                    self._context,
                    request,
                    changes=changes,
                    results=results,
                    now_us=now_us,
                )
            return results

        try:
            return self._group.run(work)
        except _DryRun as done:
            return done.results

    def _earlier(self, request: IdempotentRequest | None, now_us: int) -> list[ChangeResult]:
        if request is None:
            return []
        with self._context.database.read() as connection:
            return find_results(connection, self._context, request, now_us=now_us) or []

    def tenants(
        self,
        tenant_id: str | None = None,
        *,
        among: Collection[str] | None = None,
        after: str = "",
        limit: int | None = None,
    ) -> list[TenantRecord]:
        if tenant_id is not None:
            return [tenant_record(row) for row in self._rows("registry_tenant", (tenant_id,))]
        wanted: dict[str, object] = {"after": after, "row_limit": _row_limit(limit)}
        statement = "registry_tenants"
        if among is not None:
            statement = "registry_tenants_among"
            wanted["among"] = json.dumps(sorted(each for each in among if each > after))
        return [tenant_record(row) for row in self._rows(statement, wanted)]

    def targets(
        self,
        tenant_id: str | None = None,
        *,
        after: tuple[str, str] = ("", ""),
        limit: int | None = None,
    ) -> list[TargetRecord]:
        wanted: dict[str, object] = {"row_limit": _row_limit(limit)}
        if tenant_id is None:
            wanted |= {"after_tenant_id": after[0], "after_target_id": after[1]}
            return [target_record(row) for row in self._rows("registry_targets", wanted)]
        if after[0] > tenant_id:
            return []
        wanted |= {"tenant_id": tenant_id, "after": after[1] if after[0] == tenant_id else ""}
        return [target_record(row) for row in self._rows("registry_targets_of", wanted)]

    def target(self, tenant_id: str, target_id: str) -> TargetRecord | None:
        with self._context.database.read() as connection:
            return read_target_shown(connection, self._sql, tenant_id, target_id)

    def calendars(
        self, tenant_id: str, *, after: str = "", limit: int | None = None
    ) -> list[CalendarRecord]:
        wanted = {"tenant_id": tenant_id, "after": after, "row_limit": _row_limit(limit)}
        return [calendar_record(tenant_id, row) for row in self._rows("calendar_all", wanted)]

    def calendar(
        self, tenant_id: str, calendar_id: str, *, revision: int | None = None
    ) -> CalendarRecord | None:
        wanted = {"tenant_id": tenant_id, "calendar_id": calendar_id, "revision": revision}
        rows = self._rows("calendar_one", wanted)
        return calendar_record(tenant_id, rows[0]) if rows else None

    def allowed_hosts(
        self, *, after: tuple[str, str] = ("", ""), limit: int | None = None
    ) -> list[AllowedHost]:
        wanted: dict[str, object] = {
            "after_host": after[0],
            "after_tenant_id": after[1],
            "row_limit": _row_limit(limit),
        }
        rows = self._rows("registry_allowed_hosts", wanted)
        return [AllowedHost(row[0] or None, *row[1:]) for row in rows]

    def triggers(
        self,
        tenant_id: str | None = None,
        *,
        states: Collection[TriggerState] = (),
        target_id: str | None = None,
        name_prefix: str = "",
        after: tuple[str, str] | None = None,
        limit: int,
    ) -> list[TriggerRecord]:
        wanted = {
            "states": json.dumps(sorted(states)) if states else None,
            "target_id": target_id,
            "below_name": name_prefix + _BEHIND_EVERY_NAME,
        }
        first_tenant, after_name = after or ("", "")
        found: list[TriggerRecord] = []
        with self._context.database.read() as connection:
            for each in self._tenants(connection, tenant_id, first_tenant=first_tenant):
                behind = after_name if each == first_tenant else ""
                parameters = wanted | {
                    "tenant_id": each,
                    "after_name": behind,
                    "from_name": max(name_prefix, behind),
                    "row_limit": limit - len(found),
                }
                rows = connection.execute(self._sql["registry_triggers"], parameters)
                found += (trigger_record(row) for row in rows)
                if len(found) >= limit:
                    break
        return found

    def find_triggers(
        self,
        name: str,
        *,
        tenant_id: str | None = None,
        tenants: Collection[str] | None = None,
        deleted: bool = False,
        after: tuple[str, str] = ("", ""),
        limit: int = PAGE_ROWS_DEFAULT,
    ) -> list[TriggerRecord]:
        after_tenant_id, after_trigger_id = after
        with self._context.database.read() as connection:
            searched = self._tenants(connection, tenant_id, first_tenant=after_tenant_id)
            parameters = {
                "tenants": json.dumps(
                    [each for each in searched if tenants is None or each in tenants]
                ),
                "name": name,
                "after_tenant_id": after_tenant_id,
                "after_trigger_id": after_trigger_id,
                "row_limit": limit,
            }
            rows = connection.execute(self._sql["registry_find_triggers"], parameters).fetchall()
            if deleted:
                statement = self._sql["registry_find_deleted"]
                rows += connection.execute(statement, parameters).fetchall()
        return [trigger_record(row) for row in rows]

    def _rows(
        self, statement: str, values: tuple[object, ...] | Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        with self._context.database.read() as connection:
            return connection.execute(self._sql[statement], values).fetchall()

    def _tenants(
        self, connection: sqlite3.Connection, tenant_id: str | None, *, first_tenant: str
    ) -> list[str]:
        """The tenant that is named, there or not, or all, from the first one on."""
        if tenant_id is not None:
            return [tenant_id] if tenant_id >= first_tenant else []
        statement = self._sql["registry_tenants_from"]
        return [each for (each,) in connection.execute(statement, (first_tenant,))]

    def spans(self, tenant_id: str, trigger_id: str) -> list[SpanRecord]:
        with self._context.database.read() as connection:
            rows = connection.execute(
                self._sql["registry_spans"], (tenant_id, trigger_id)
            ).fetchall()
        return [
            SpanRecord(
                revision,
                from_us,
                SpanKind(kind),
                version,
                None if resume_rule is None else ResumeRule(resume_rule),
                note,
                actor,
            )
            for revision, from_us, kind, version, resume_rule, note, actor in rows
        ]

    def definition(
        self, tenant_id: str, trigger_id: str, *, version: int
    ) -> TriggerDefinition | None:
        key = (tenant_id, trigger_id, version)
        try:
            with self._context.database.read() as connection:
                facts = self._context.versions.facts(connection, key)
        except KeyError:
            return None
        return definition_of(facts)

    def horizon(self, tenant_id: str, name: str) -> HeldHorizon:
        with self._context.database.read() as connection:
            return held_horizon(connection, self._sql, tenant_id, name)

    def target_secret(self, tenant_id: str, target_id: str) -> str | None:
        with self._context.database.read() as connection:
            found = read_target(connection, self._sql, tenant_id, target_id)
            if found is None:
                return None
            secret = read_payload(
                connection, self._context, tenant_id, payload_ref=found.secret_ref
            )
        return None if secret is None else secret.decode()


def _row_limit(limit: int | None) -> int:
    return _ALL if limit is None else limit


def _apply_all(session: ChangeSession, changes: Sequence[Change]) -> list[ChangeResult]:
    """One result a change; ChangeRefused with the problems of all of them."""
    results: list[ChangeResult] = []
    problems: list[ChangeProblem] = []
    for number, change in enumerate(changes):
        try:
            results.append(apply_change(session, change))
        except Refused as error:
            problems += (problem._replace(change=number) for problem in error.problems)
    if problems:
        raise ChangeRefused(tuple(problems))
    return results
