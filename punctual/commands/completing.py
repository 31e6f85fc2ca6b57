"""What a shell offers for TAB: names from a running service, and zones."""

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from punctual.client import ApiClient

_TIMEOUT_S: Final = 0.5
_OFFERED_MAX: Final = 100
_Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _quietly(offer: Callable[["ApiClient", click.Context, str], list[str]]) -> _Complete:
    """Nothing to offer is better than an error in the middle of somebody's line."""

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        from punctual.client import connect_running

        try:
            data = ctx.params.get("data") or os.environ.get("PUNCTUAL_DATA") or ".punctual"
            server = ctx.params.get("server") or os.environ.get("PUNCTUAL_SERVER")
            client = connect_running(
                Path(data), server=server, token=None, answer_timeout_s=_TIMEOUT_S, tries=1
            )
            if client is None:
                return []
            with client:
                return offer(client, ctx, incomplete)[:_OFFERED_MAX]
        except Exception:
            return []

    return complete


def _tenants(client: "ApiClient", ctx: click.Context, incomplete: str) -> list[str]:
    names = (each["tenant"] for each in client.pages("/v1/tenants"))
    return list(islice((name for name in names if name.startswith(incomplete)), _OFFERED_MAX))


def _triggers(client: "ApiClient", ctx: click.Context, incomplete: str) -> list[str]:
    """`TENANT/` first, then its triggers; with --tenant, or of the only one, bare names too."""
    tenant, slash, prefix = incomplete.rpartition("/")
    if slash:
        return [f"{tenant}/{name}" for name in _named(client, tenant, prefix)]
    given = ctx.params.get("tenant")
    tenants = [given] if given else _tenants(client, ctx, "")
    if len(tenants) == 1:
        return _named(client, tenants[0], incomplete)
    return [f"{name}/" for name in tenants if name.startswith(incomplete)]


def _members(
    kind: str,
) -> Callable[["ApiClient", click.Context, str], list[str]]:
    """`TENANT/` first, then what it has of this kind."""

    def offer(client: "ApiClient", ctx: click.Context, incomplete: str) -> list[str]:
        tenant, slash, prefix = incomplete.rpartition("/")
        if not slash:
            return [f"{name}/" for name in _tenants(client, ctx, incomplete)]
        names = (each["name"] for each in client.pages(f"/v1/tenants/{tenant}/{kind}"))
        fitting = (f"{tenant}/{name}" for name in names if name.startswith(prefix))
        return list(islice(fitting, _OFFERED_MAX))

    return offer


def _named(client: "ApiClient", tenant: str, prefix: str) -> list[str]:
    found = client.get("/v1/triggers", tenant=tenant, prefix=prefix, limit=_OFFERED_MAX)
    return [each["name"] for each in found["items"]]


def complete_zone(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Zones of the installed data, whatever the case they are written in."""
    from zoneinfo import available_timezones

    wanted = incomplete.lower()
    return sorted(zone for zone in available_timezones() if zone.lower().startswith(wanted))


complete_tenant: _Complete = _quietly(_tenants)
complete_trigger: _Complete = _quietly(_triggers)
complete_target: _Complete = _quietly(_members("targets"))
complete_calendar: _Complete = _quietly(_members("calendars"))
