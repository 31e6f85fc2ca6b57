"""Between the keys that people write and the definitions that the store keeps."""

from typing import Final

from control_api.problems import shown
from ports.records import TriggerDefinition
from scheduling import InvalidRecurrence, Recurrence, zone_names
from scheduling.durations import duration_text
from scheduling.probe import probe
from scheduling.versions import recurrence_of
from schemas.api.triggers import DefinitionOut, RetryOut
from schemas.manifest import TriggerSpec
from schemas.refusals import did_you_mean

_FIELDS: Final = {
    "zone": "zone",
    "starts_at": "starts_at",
    "ends_at": "ends_at",
    "exclusions": "exclude",
    "calendars": "calendars",
    "gap": "gap",
    "fold": "fold",
}


def definition_of(
    spec: TriggerSpec, *, smear_s: int, catchup_horizon_s: int, horizon_source: str
) -> TriggerDefinition:
    """The version that a body or a manifest asks for; what it leaves open is given."""
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
        smear_s=smear_s if spec.smear_s is None else spec.smear_s,
        missed_policy=spec.missed_policy,
        overlap_policy=spec.overlap_policy,
        catchup_horizon_s=catchup_horizon_s,
        horizon_source=horizon_source,
        attempt_budget=spec.retry.attempts,
        retry_window_s=spec.retry.window_s,
        run_timeout_s=spec.run_timeout_s,
        outcome_window_s=spec.outcome_window_s,
        response_is_outcome=spec.response_is_outcome,
    )


def definition_out(definition: TriggerDefinition) -> DefinitionOut:
    """The keys that make this definition again, but for its payload."""
    return DefinitionOut(
        schedule=list(definition.recurrence),
        zone=definition.zone,
        target=definition.target_id,
        missed=definition.missed_policy,
        overlap=definition.overlap_policy,
        gap=definition.gap_rule,
        fold=definition.fold_rule,
        starts_at=definition.starts_us,
        ends_at=definition.ends_us,
        exclude=list(definition.exclusions),
        calendars=list(definition.calendars),
        max_fires=definition.max_fires,
        smear_s=definition.smear_s,
        horizon=duration_text(definition.catchup_horizon_s),
        retry=RetryOut(
            attempts=definition.attempt_budget, window=duration_text(definition.retry_window_s)
        ),
        run_timeout=duration_text(definition.run_timeout_s),
        outcome_window=duration_text(definition.outcome_window_s),
        response_is_outcome=definition.response_is_outcome,
    )


def probed_recurrence(
    definition: TriggerDefinition, *, tenant_id: str, name: str, now_us: int
) -> Recurrence:
    """The compiled recurrence, its first instants confirmed by a second engine.

    Raises InvalidRecurrence.
    """
    recurrence = recurrence_of(definition, tenant_id=tenant_id, name=name)
    probe(recurrence.expression, definition.zone, recurrence, now_us)
    return recurrence


def refusal_text(refused: InvalidRecurrence) -> tuple[str, str]:
    """(the key at fault, what is wrong with it and what to do); a zone gets a suggestion."""
    key = _FIELDS.get(refused.field, "schedule")
    part = "" if refused.field == key else f"{refused.field}: "
    item = f"{shown(refused.item)}: " if refused.item else ""
    close = did_you_mean(refused.item, sorted(zone_names())) if key == "zone" else []
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return key, f"{part}{item}{refused.reason}{hint}"
