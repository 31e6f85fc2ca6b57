"""What is to become of a tenant's targets."""

from collections.abc import Collection

from control_api.manifests.definition_fields import CHANGED, GIVEN
from control_api.manifests.hosts import Owner, Wanted
from control_api.manifests.items import Item, Phase, Step, Subject
from ports.changes import AllowHost, DeleteTarget, PutTarget
from ports.errors import PayloadUnreadable
from ports.records import TargetRecord
from ports.registry import RegistryPort
from scheduling.limits import TARGET_TIMEOUT_S_DEFAULT
from scheduling.vocabulary import USABLE_OWNERSHIP
from schemas.api.apply import FieldChange
from schemas.manifest import TargetSpec
from schemas.origins import host_of


def target_item(
    registry: RegistryPort,
    wanted: Wanted,
    spec: TargetSpec,
    *,
    owner: Owner,
    allowed: Collection[str],
) -> Item:
    """A target as the manifest has it; `allowed` are the hosts that its tenant is given now."""
    key, stored = (wanted.tenant_id, wanted.name), wanted.stored
    record = TargetRecord(
        tenant_id=wanted.tenant_id,
        target_id=wanted.name,
        endpoint=spec.url,
        timeout_s=float(spec.timeout_s),
        secret=spec.secret,
    )
    put = PutTarget(
        target=record,
        ownership=owner.state,
        check_detail=owner.detail,
        expected_revision=_expected(stored, allowed),
    )
    steps = [Step(Phase.TARGET, put)]
    if owner.host is not None:
        allow = AllowHost(tenant_id=wanted.tenant_id, host=owner.host, note="by an apply")
        steps.insert(0, Step(Phase.HOST, allow))
    return Item(
        subject=Subject("target", *key),
        revision=0 if stored is None else stored.revision,
        steps=tuple(steps),
        fields=tuple(_fields(registry, record, stored, owner=owner)),
        warning=None if owner.is_usable else owner.remedy(wanted.tenant_id, spec.url),
    )


def target_deletion(stored: TargetRecord, *, allowed: Collection[str]) -> Item:
    """A target that the manifests do not name."""
    delete = DeleteTarget(
        tenant_id=stored.tenant_id,
        target_id=stored.target_id,
        expected_revision=_expected(stored, allowed),
    )
    return Item(
        subject=Subject("target", stored.tenant_id, stored.target_id),
        revision=stored.revision,
        steps=(Step(Phase.REST_GOES, delete),),
    )


def _expected(stored: TargetRecord | None, allowed: Collection[str]) -> int:
    """Allowing the host of an unusable target makes a new revision of it, before its turn."""
    if stored is None:
        return 0
    is_renewed = stored.ownership not in USABLE_OWNERSHIP and host_of(stored.endpoint) in allowed
    return stored.revision + is_renewed


def _fields(
    registry: RegistryPort, record: TargetRecord, stored: TargetRecord | None, *, owner: Owner
) -> list[FieldChange]:
    fields = []
    if stored is None or stored.endpoint != record.endpoint:
        before = None if stored is None else stored.endpoint
        fields.append(FieldChange(field="url", before=before, after=record.endpoint))
    before_s = TARGET_TIMEOUT_S_DEFAULT if stored is None else stored.timeout_s
    if before_s != record.timeout_s:
        told_s = None if stored is None else before_s
        fields.append(FieldChange(field="timeout_s", before=told_s, after=record.timeout_s))
    if record.secret is not None and not _is_current(registry, record, stored):
        fields.append(FieldChange(field="secret", after=GIVEN if stored is None else CHANGED))
    if owner.host is not None:
        fields.append(FieldChange(field="allowed_host", after=owner.host))
    elif stored is not None and owner.is_usable and stored.ownership not in USABLE_OWNERSHIP:
        before = stored.ownership.value
        fields.append(FieldChange(field="ownership", before=before, after=owner.state.value))
    return fields


def _is_current(registry: RegistryPort, record: TargetRecord, stored: TargetRecord | None) -> bool:
    if stored is None:
        return False
    try:
        return registry.target_secret(record.tenant_id, record.target_id) == record.secret
    except PayloadUnreadable:  # its key is deleted: it signs nothing any more
        return False
