"""What the commands share: the store of a data folder, the clock, names, and how to say things."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from adapters.clock_fixed import FixedClock
from ports.records import TriggerRecord
from ports.registry import RegistryPort
from ports.store import Store
from ports.time_authority import TimeAuthorityPort

if TYPE_CHECKING:
    from punctual.client import ApiClient

PAGE_ROWS: Final = 500
_NAMES_SEARCHED_MAX: Final = 5_000  # for a suggestion; more names are not looked through
_NAMES_SHOWN_MAX: Final = 5

Function = TypeVar("Function", bound=Callable[..., Any])


class Refusal(click.ClickException):
    """A command was refused or found nothing: one line, exit code 1."""


def data_option(function: Function) -> Function:
    """`--data DIR`, as every command that uses a store has it."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(".punctual"),
        envvar="PUNCTUAL_DATA",
        show_default=True,
        show_envvar=True,
        help="Folder of the store and its keys.",
    )(function)


def api_options(function: Function) -> Function:
    """`--server URL` and `--data DIR`, as every command on the API has them: see `connected`."""
    option = click.option(
        "--server",
        metavar="URL",
        envvar="PUNCTUAL_SERVER",
        show_envvar=True,
        callback=_server_url,
        help="The API to ask, with the token in PUNCTUAL_TOKEN; without it, that of --data.",
    )
    return option(data_option(function))


def json_option(function: Function) -> Function:
    """`--json`, as every command that reads has it."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def tenant_option(function: Function) -> Function:
    """`--tenant T`."""
    return click.option("--tenant", metavar="TENANT", help="Only this tenant's.")(function)


@contextmanager
def opened(data: Path) -> Iterator[Store]:
    """The store of a data folder; StoreRefused where there is none."""
    from punctual.data_folder import open_data_folder  # brings the cryptography along

    folder = open_data_folder(data, create=False)
    try:
        yield folder.store
    finally:
        folder.close()


@contextmanager
def connected(data: Path, server: str | None) -> Iterator["ApiClient"]:
    """The API: of `server`; else of whoever serves `data`; else of this process over `data`.

    What the API refuses inside the block ends the command as a Refusal.
    """
    from punctual.client import ApiError, connect  # brings the HTTP client along

    with connect(data, server=server, token=None, clock=_given_clock()) as client:
        try:
            yield client
        except ApiError as error:
            raise Refusal(str(error)) from error


def clock() -> TimeAuthorityPort:
    """The machine's clock; a test puts its own into the context's object."""
    return _given_clock() or FixedClock()


def now_us() -> int:
    """The clock's earliest: what changes are dated with, and what past and future mean."""
    return clock().now().earliest_us


def find_trigger(registry: RegistryPort, text: str, tenant: str | None = None) -> TriggerRecord:
    """The one trigger of a NAME, a TENANT/NAME or an id; Refusal says what there is instead."""
    before, slash, name = text.rpartition("/")
    if slash and tenant not in (None, before):
        raise Refusal(f"--tenant: {tenant} contradicts {text}; leave one of them out")
    tenant = before if slash else tenant
    found = registry.find_triggers(name, tenant_id=tenant)
    named = [trigger for trigger in found if trigger.name == name] or found
    if len(named) == 1:
        return named[0]
    if named:
        names = sorted(qualified_name(trigger) for trigger in named)
        raise Refusal(f"trigger: {name!r} is the name of several: {_or_words(names)}; name one")
    raise Refusal(_unknown_trigger(registry, text, tenant))


def check_tenant(registry: RegistryPort, tenant: str | None) -> None:
    """Refusal for a tenant that there is not; an empty list would look like an answer."""
    known = [each.tenant_id for each in registry.tenants()]
    if tenant is not None and tenant not in known:
        raise Refusal(f"--tenant: there is no tenant {tenant!r}{suggestion(tenant, known)}")


def qualified_name(trigger: TriggerRecord) -> str:
    """TENANT/NAME."""
    return f"{trigger.tenant_id}/{trigger.name}"


def all_triggers(
    registry: RegistryPort, tenant: str | None = None, *, limit: int
) -> list[TriggerRecord]:
    """Up to `limit` triggers by tenant and name, read in pages."""
    found: list[TriggerRecord] = []
    while len(found) < limit:
        after = (found[-1].tenant_id, found[-1].name) if found else None
        page = registry.triggers(tenant, after=after, limit=min(PAGE_ROWS, limit - len(found)))
        found += page
        if len(page) < PAGE_ROWS:
            break
    return found


def suggestion(word: str, words: Sequence[str]) -> str:
    """`; did you mean ...?`, or what is known where nothing is close, or nothing."""
    from difflib import get_close_matches

    by_lower = {known.lower(): known for known in words}
    close = get_close_matches(word[:100].lower(), by_lower, n=1)
    if close:
        return f"; did you mean {by_lower[close[0]]}?"
    if not words:
        return ""
    return f"; known: {_or_words(sorted(words))}"


def say_json(value: object) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say_json_line(value: object) -> None:
    """One line of JSON on stdout, at once."""
    click.echo(json.dumps(value, ensure_ascii=False))
    sys.stdout.flush()


def hint(text: str) -> None:
    """A remark beside the answer: on stderr, so that a pipe holds only the answer."""
    click.echo(text, err=True)


def _given_clock() -> TimeAuthorityPort | None:
    given = click.get_current_context().obj
    return given if isinstance(given, TimeAuthorityPort) or hasattr(given, "now") else None


def _server_url(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Told alike whether it ends in a slash or not."""
    if value is None:
        return None
    if not value.startswith(("http://", "https://")):
        raise click.BadParameter(f"{value!r} is no URL: write it as http://HOST:PORT")
    return value.rstrip("/")


def _unknown_trigger(registry: RegistryPort, text: str, tenant: str | None) -> str:
    tenants = [each.tenant_id for each in registry.tenants()]
    if tenant is not None and tenant not in tenants:
        return f"tenant: there is no tenant {tenant!r}{suggestion(tenant, tenants)}"
    known = all_triggers(registry, tenant, limit=_NAMES_SEARCHED_MAX)
    if not known:
        whose = "no triggers yet" if tenant is None else f"no triggers of {tenant}"
        return f"trigger: there are {whose}; add some with `punctual up --manifest FILE`"
    if "/" in text:
        return f"trigger: no {text!r}{suggestion(text, [qualified_name(each) for each in known])}"
    return f"trigger: no {text!r}{suggestion(text, [each.name for each in known])}"


def _or_words(words: Sequence[str]) -> str:
    shown = list(dict.fromkeys(words))
    if len(shown) > _NAMES_SHOWN_MAX:
        return ", ".join(shown[:_NAMES_SHOWN_MAX]) + f" and {len(shown) - _NAMES_SHOWN_MAX} more"
    return ", ".join(shown[:-1]) + f" and {shown[-1]}" if len(shown) > 1 else shown[0]
