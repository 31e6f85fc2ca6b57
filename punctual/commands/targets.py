"""`punctual targets`: where fires go, and the secret that their receiver checks."""

from pathlib import Path

import click
from click.core import ParameterSource

from ports.records import AuditRecord, TargetRecord
from ports.store import Store
from punctual.commands.common import (
    Refusal,
    check_tenant,
    data_option,
    hint,
    json_option,
    now_us,
    opened,
    say_json,
    suggestion,
    tenant_option,
)
from punctual.commands.tables import Column, print_table

_COLUMNS = (
    Column("target"),
    Column("kind", droppable=1),
    Column("endpoint", flexible=24),
    Column("timeout", right=True),
)


@click.group(invoke_without_command=True)
@tenant_option
@data_option
@json_option
@click.pass_context
def targets(ctx: click.Context, tenant: str | None, data: Path, as_json: bool) -> None:
    """List targets, or show one's signing secret."""
    if ctx.invoked_subcommand is not None:
        return
    with opened(data) as store:
        check_tenant(store.registry, tenant)
        found = _targets(store, tenant)
    if as_json:
        say_json([_json(target) for target in found])
        return
    if not found:
        hint("No targets yet: add some with `punctual up --manifest FILE`.")
        return
    print_table(
        _COLUMNS,
        [
            (_name(target), target.kind, target.endpoint, f"{target.timeout_s:g} s")
            for target in found
        ],
    )


@targets.command()
@click.argument("target", metavar="TENANT/TARGET")
@data_option
@json_option
@click.pass_context
def secret(ctx: click.Context, target: str, data: Path, as_json: bool) -> None:
    """Show the signing secret of a target, for its receiver. The audit says who asked."""
    from punctual.actor import local_actor

    with opened(_nearest_data(ctx, data)) as store:
        tenant_id, target_id = _find(store, target)
        entry = AuditRecord(now_us(), local_actor(), "secret_shown", tenant_id, target_id)
        store.audit.append(entry)
        value = store.registry.target_secret(tenant_id, target_id)
    if value is None:
        raise Refusal(f"target: {tenant_id}/{target_id} has no secret: apply it again to make one")
    if as_json:
        say_json({"tenant": tenant_id, "target": target_id, "secret": value})
        return
    click.echo(value)


def _nearest_data(ctx: click.Context, data: Path) -> Path:
    """The folder given to `secret`, or the one given to `targets` before it."""
    is_own = ctx.get_parameter_source("data") is ParameterSource.COMMANDLINE
    parent = ctx.parent
    if is_own or parent is None:
        return data
    return Path(parent.params["data"])


def _targets(store: Store, tenant: str | None) -> list[TargetRecord]:
    tenants = [tenant] if tenant else [each.tenant_id for each in store.registry.tenants()]
    return [target for each in tenants for target in store.registry.targets(each)]


def _find(store: Store, text: str) -> tuple[str, str]:
    """The target of a TENANT/TARGET, or of a name that only one tenant has."""
    known = _targets(store, None)
    fitting = [target for target in known if text in (_name(target), target.target_id)]
    if len(fitting) == 1:
        return fitting[0].tenant_id, fitting[0].target_id
    names = [_name(target) for target in fitting or known]
    if fitting:
        raise Refusal(f"target: {text!r} is the name of several: {', '.join(names)}; name one")
    raise Refusal(f"target: no {text!r}{suggestion(text, names)}")


def _name(target: TargetRecord) -> str:
    return f"{target.tenant_id}/{target.target_id}"


def _json(target: TargetRecord) -> dict[str, object]:
    return {
        "tenant": target.tenant_id,
        "target": target.target_id,
        "kind": target.kind,
        "endpoint": target.endpoint,
        "timeout_s": target.timeout_s,
    }
