"""Writing definitions: new triggers and new versions, payloads sealed before they are stored.

All functions run inside the caller's transaction.
"""

import json
import sqlite3
from hashlib import blake2b

from adapters.sqlite_context import SqliteContext
from adapters.sqlite_versions import VersionFacts, rules_of
from ports.errors import ChangeProblem, PayloadUnreadable, ProblemKind
from ports.records import TargetRecord, TriggerDefinition
from scheduling.errors import InvalidRecurrence, RuleError
from scheduling.instants import SECOND_US
from scheduling.limits import NAME_CHARS_MAX, PAYLOAD_BYTES_MAX
from schemas.signing_secrets import new_secret


def definition_problems(
    tenant_id: str, name: str, definition: TriggerDefinition
) -> list[ChangeProblem]:
    """What is wrong with a definition, each naming its field; empty when nothing is."""
    problems: list[tuple[str, str]] = []
    if not 0 < len(name) <= NAME_CHARS_MAX:
        problems.append(("name", f"name: has {len(name)} characters; use 1 to {NAME_CHARS_MAX}"))
    if (text := payload_problem(definition.payload)) is not None:
        problems.append(("payload", text))
    try:
        rules_of((tenant_id, "", 0), facts_of(name, definition, payload_ref=None))
    except InvalidRecurrence as error:
        # The parts of an expression (`minute`, `hour`, ...) are no fields of a definition.
        field = error.field if hasattr(definition, error.field) else "recurrence"
        problems.append((field, str(error)))
    except RuleError as error:
        problems.append(("recurrence", f"recurrence: {error}"))
    return [
        ChangeProblem(f"{tenant_id}/{name}: {text}", ProblemKind.INVALID, field)
        for field, text in problems
    ]


def payload_problem(payload: bytes | None) -> str | None:
    """What is wrong with a payload; None when nothing is."""
    if payload is None or len(payload) <= PAYLOAD_BYTES_MAX:
        return None
    return (
        f"payload: {len(payload)} bytes; at most {PAYLOAD_BYTES_MAX}: "
        "store the data elsewhere and send its address"
    )


def facts_of(name: str, definition: TriggerDefinition, *, payload_ref: str | None) -> VersionFacts:
    """A definition in the form in which versions are read back."""
    return VersionFacts(
        name=name,
        recurrence=definition.recurrence,
        zone=definition.zone,
        gap_rule=definition.gap_rule,
        fold_rule=definition.fold_rule,
        starts_us=definition.starts_us,
        ends_us=definition.ends_us,
        exclusions=definition.exclusions,
        max_fires=definition.max_fires,
        smear_us=definition.smear_s * SECOND_US,
        target_id=definition.target_id,
        payload_ref=payload_ref,
        missed_policy=definition.missed_policy,
        overlap_policy=definition.overlap_policy,
        horizon_us=definition.catchup_horizon_s * SECOND_US,
        horizon_source=definition.horizon_source,
        attempt_budget=definition.attempt_budget,
        retry_window_us=definition.retry_window_s * SECOND_US,
        run_timeout_us=definition.run_timeout_s * SECOND_US,
        outcome_window_us=definition.outcome_window_s * SECOND_US,
        response_is_outcome=definition.response_is_outcome,
        exclusion_calendars=definition.exclusion_calendars,
    )


def definition_of(facts: VersionFacts) -> TriggerDefinition:
    """A version's definition without its payload: the reverse of `facts_of`."""
    return TriggerDefinition(
        recurrence=facts.recurrence,
        zone=facts.zone,
        target_id=facts.target_id,
        gap_rule=facts.gap_rule,
        fold_rule=facts.fold_rule,
        starts_us=facts.starts_us,
        ends_us=facts.ends_us,
        exclusions=facts.exclusions,
        calendars=tuple(each.calendar_id for each in facts.exclusion_calendars),
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
        has_payload=facts.payload_ref is not None,
        exclusion_calendars=facts.exclusion_calendars,
    )


def is_current(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    *,
    version: int,
    definition: TriggerDefinition,
) -> bool:
    """Whether the stored version says the same, payload included; a lost payload does not."""
    fingerprint, payload_ref = connection.execute(
        context.sql["registry_version_identity"], (*key, version)
    ).fetchone()
    if fingerprint != _fingerprint(definition):
        return False
    try:
        return read_payload(connection, context, key[0], payload_ref=payload_ref) == (
            definition.payload
        )
    except PayloadUnreadable:
        return False


def insert_version(
    connection: sqlite3.Connection,
    context: SqliteContext,
    key: tuple[str, str],
    *,
    version: int,
    definition: TriggerDefinition,
    kept_payload_ref: str | None = None,
    now_us: int,
    actor: str,
) -> None:
    """Seal the payload, unless a sealed one is kept, and write the immutable version."""
    payload_ref = kept_payload_ref
    if definition.payload is not None:
        payload_ref = _ref("payload", *key, str(version))
        put_payload(
            connection,
            context,
            key[0],
            payload_ref=payload_ref,
            plain=definition.payload,
            now_us=now_us,
        )
    context.versions.wrote((*key, version))
    connection.execute(
        context.sql["registry_insert_version"],
        (
            *key,
            version,
            json.dumps(definition.recurrence),
            definition.zone,
            definition.gap_rule.value,
            definition.fold_rule.value,
            definition.starts_us,
            definition.ends_us,
            json.dumps(definition.exclusions),
            definition.max_fires,
            definition.smear_s,
            definition.target_id,
            payload_ref,
            definition.missed_policy.value,
            definition.overlap_policy.value,
            definition.catchup_horizon_s,
            definition.horizon_source,
            definition.attempt_budget,
            definition.retry_window_s,
            definition.run_timeout_s,
            definition.outcome_window_s,
            int(definition.response_is_outcome),
            json.dumps(_calendar_refs(definition)),
            _fingerprint(definition),
            actor,
            now_us,
        ),
    )


def put_secret(
    connection: sqlite3.Connection,
    context: SqliteContext,
    target: TargetRecord,
    *,
    secret: str | None,
    previous_ref: str | None,
    now_us: int,
) -> str:
    """Seal a signing secret, a new one when none is given; returns its reference.

    The reference rests on the previous one, so that two secrets of one instant differ.
    """
    plain = secret or new_secret()
    ref = _ref("secret", target.tenant_id, target.target_id, previous_ref or "", str(now_us))
    put_payload(
        connection,
        context,
        target.tenant_id,
        payload_ref=ref,
        plain=plain.encode(),
        now_us=now_us,
    )
    return ref


def put_payload(
    connection: sqlite3.Connection,
    context: SqliteContext,
    tenant_id: str,
    *,
    payload_ref: str,
    plain: bytes,
    now_us: int,
) -> None:
    """Store bytes that nobody can read without the tenant's key."""
    sealed = context.payload_keys.seal(tenant_id, plain, context=payload_ref)
    connection.execute(
        context.sql["registry_put_payload"], (payload_ref, tenant_id, sealed, now_us)
    )


def delete_payload(
    connection: sqlite3.Connection, context: SqliteContext, *, payload_ref: str
) -> None:
    """Forget stored bytes that nothing refers to any more."""
    connection.execute(context.sql["registry_delete_payload"], (payload_ref,))


def read_payload(
    connection: sqlite3.Connection,
    context: SqliteContext,
    tenant_id: str,
    *,
    payload_ref: str | None,
) -> bytes | None:
    """Open a stored payload. PayloadUnreadable when the tenant's key is gone."""
    if payload_ref is None:
        return None
    (sealed,) = connection.execute(context.sql["registry_payload"], (payload_ref,)).fetchone()
    return context.payload_keys.open(tenant_id, sealed, context=payload_ref)


def _fingerprint(definition: TriggerDefinition) -> str:
    # Without the payload: a digest of a guessable payload would outlive its key.
    facts = facts_of("", definition, payload_ref=None)
    # Calendars only where there are any: versions without them keep the digest that they had.
    parts = [*facts[:-1], *_calendar_refs(definition)]
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _calendar_refs(definition: TriggerDefinition) -> list[tuple[str, int]]:
    return [(each.calendar_id, each.revision) for each in definition.exclusion_calendars]


def _ref(kind: str, *parts: str) -> str:
    return f"{kind}-{blake2b(chr(0).join(parts).encode(), digest_size=16).hexdigest()}"
