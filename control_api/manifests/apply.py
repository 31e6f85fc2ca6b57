"""From a manifest to the changes that make a store match it; applying it again changes nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from control_api.manifests.problems import ManifestErrors, Problem
from control_api.manifests.secrets import SecretError, read_secret
from ports.changes import (
    Change,
    PauseTrigger,
    PutCalendar,
    PutTarget,
    PutTenant,
    PutTrigger,
    ResumeTrigger,
)
from ports.records import TargetRecord, TenantRecord, TriggerDefinition, TriggerRecord
from ports.registry import RegistryPort
from scheduling.limits import (
    CATCHUP_RATE_PCT_DEFAULT,
    QUOTA_DISPATCH_PER_S_DEFAULT,
    QUOTA_INFLIGHT_DEFAULT,
    QUOTA_TRIGGERS_DEFAULT,
)
from scheduling.vocabulary import OwnershipState, TriggerState
from schemas.endpoints import is_loopback_endpoint
from schemas.manifest import CalendarSpec, Manifest, TargetSpec, TenantSpec, TriggerSpec

_CHOSEN: Final = "chosen"


def changes_of(
    manifest: Manifest,
    registry: RegistryPort,
    *,
    actor: str,
    environment: Mapping[str, str],
    folder: Path,
    smear_s_default: int = 0,
) -> list[Change]:
    """The changes for one call of `RegistryPort.apply`, in an order in which each finds its needs.

    actor:            recorded as who chose a horizon that is new
    environment:      where `secret_env` is looked up
    folder:           where a relative `secret_file` starts, the manifest's own folder
    smear_s_default:  of a new tenant that names none; 0 in one process, where nothing crowds
    Reads the registry for what the manifest leaves as it is; changes nothing.
    Raises ManifestErrors with every secret that cannot be read.
    """
    targets, problems = _targets_of(manifest, environment, folder)
    if problems:
        raise ManifestErrors(manifest.name, problems)
    stored = {tenant.tenant_id: tenant for tenant in registry.tenants()}
    changes: list[Change] = []
    for tenant_id, spec in manifest.tenants.items():
        tenant = tenant_record(
            tenant_id, spec, stored=stored.get(tenant_id), smear_s_default=smear_s_default
        )
        changes.append(PutTenant(tenant=tenant))
        changes += [_calendar_change(tenant_id, *item) for item in spec.calendars.items()]
        changes += [_put_target(target) for target in targets if target.tenant_id == tenant_id]
        for name, trigger in spec.triggers.items():
            changes += _trigger_changes(tenant, name, trigger, registry=registry, actor=actor)
    return changes


def tenant_record(
    tenant_id: str, spec: TenantSpec, *, stored: TenantRecord | None, smear_s_default: int
) -> TenantRecord:
    """The tenant's quotas: as the manifest says, else as they are, else the service's defaults."""
    known = stored or TenantRecord(
        tenant_id=tenant_id,
        quota_triggers=QUOTA_TRIGGERS_DEFAULT,
        quota_dispatch_per_s=QUOTA_DISPATCH_PER_S_DEFAULT,
        quota_inflight=QUOTA_INFLIGHT_DEFAULT,
        catchup_rate_pct=CATCHUP_RATE_PCT_DEFAULT,
        smear_s=smear_s_default,
    )
    return TenantRecord(
        tenant_id=tenant_id,
        quota_triggers=_given(spec.quota_triggers, known.quota_triggers),
        quota_dispatch_per_s=_given(spec.quota_dispatch_per_s, known.quota_dispatch_per_s),
        quota_inflight=_given(spec.quota_inflight, known.quota_inflight),
        catchup_rate_pct=_given(spec.catchup_rate_pct, known.catchup_rate_pct),
        smear_s=_given(spec.smear_s, known.smear_s),
    )


def definition_of(
    spec: TriggerSpec, *, tenant_smear_s: int, horizon_source: str
) -> TriggerDefinition:
    """The version that a trigger of a manifest asks for."""
    return TriggerDefinition(
        recurrence=spec.schedule,
        zone=spec.zone,
        target_id=spec.target,
        payload=None if spec.payload_json == "null" else spec.payload_json.encode(),
        gap_rule=spec.gap_rule,
        fold_rule=spec.fold_rule,
        starts_us=spec.starts_at_us,
        ends_us=spec.ends_at_us,
        exclusions=tuple(day.isoformat() for day in spec.excluded_on),
        calendars=spec.calendars,
        max_fires=spec.max_fires,
        smear_s=_given(spec.smear_s, tenant_smear_s),
        missed_policy=spec.missed_policy,
        overlap_policy=spec.overlap_policy,
        catchup_horizon_s=spec.catchup_horizon_s,
        horizon_source=horizon_source,
        attempt_budget=spec.retry.attempts,
        retry_window_s=spec.retry.window_s,
        run_timeout_s=spec.run_timeout_s,
        outcome_window_s=spec.outcome_window_s,
        response_is_outcome=spec.response_is_outcome,
    )


def _calendar_change(tenant_id: str, name: str, spec: CalendarSpec) -> PutCalendar:
    return PutCalendar(
        tenant_id=tenant_id,
        calendar_id=name,
        rules=spec.rules,
        dates=tuple(day.isoformat() for day in spec.dates),
    )


def _targets_of(
    manifest: Manifest, environment: Mapping[str, str], folder: Path
) -> tuple[list[TargetRecord], list[Problem]]:
    targets: list[TargetRecord] = []
    problems: list[Problem] = []
    for tenant_id, tenant in manifest.tenants.items():
        for name, spec in tenant.targets.items():
            try:
                secret = read_secret(spec, environment=environment, folder=folder)
            except SecretError as error:
                path = f"tenants.{tenant_id}.targets.{name}"
                problems.append(Problem(manifest.lines.get(path, 1), 1, path, str(error)))
            else:
                targets.append(_target_record(tenant_id, name, spec, secret=secret))
    return targets, problems


def _target_record(
    tenant_id: str, name: str, spec: TargetSpec, *, secret: str | None
) -> TargetRecord:
    return TargetRecord(
        tenant_id=tenant_id,
        target_id=name,
        endpoint=spec.url,
        timeout_s=float(spec.timeout_s),
        secret=secret,
    )


def _put_target(target: TargetRecord) -> PutTarget:
    is_local = is_loopback_endpoint(target.endpoint)
    return PutTarget(
        target=target,
        ownership=OwnershipState.LOCAL if is_local else OwnershipState.PENDING,
    )


def _trigger_changes(
    tenant: TenantRecord, name: str, spec: TriggerSpec, *, registry: RegistryPort, actor: str
) -> Iterator[Change]:
    """The definition first, so that a new trigger is paused before anything could be due."""
    asks_for_stored = spec.is_horizon_chosen or spec.paused is not None
    stored = _stored_trigger(registry, tenant.tenant_id, name) if asks_for_stored else None
    source = "default"
    if spec.is_horizon_chosen:
        source = _horizon_source(spec, stored, registry=registry, actor=actor)
    definition = definition_of(spec, tenant_smear_s=tenant.smear_s, horizon_source=source)
    yield PutTrigger(tenant_id=tenant.tenant_id, name=name, definition=definition)
    is_paused = stored is not None and stored.state is TriggerState.PAUSED
    if spec.paused and not is_paused:
        yield PauseTrigger(tenant_id=tenant.tenant_id, name=name, note=spec.pause_note)
    elif spec.paused is False and is_paused:
        yield ResumeTrigger(tenant_id=tenant.tenant_id, name=name, rule=spec.resume_rule)


def _horizon_source(
    spec: TriggerSpec, stored: TriggerRecord | None, *, registry: RegistryPort, actor: str
) -> str:
    """Who chose the horizon: whoever did first, so that another's equal file changes nothing."""
    if stored is not None:
        current = registry.definition(stored.tenant_id, stored.trigger_id, version=stored.version)
        if (
            current is not None
            and current.catchup_horizon_s == spec.catchup_horizon_s
            and current.horizon_source.startswith(_CHOSEN)
        ):
            return current.horizon_source
    return f"{_CHOSEN} by {actor}"


def _stored_trigger(registry: RegistryPort, tenant_id: str, name: str) -> TriggerRecord | None:
    found = registry.find_triggers(name, tenant_id=tenant_id)
    return next((trigger for trigger in found if trigger.name == name), None)


def _given(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value
