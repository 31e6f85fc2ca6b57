"""What the commands share: the store of a data folder, the clock, names, and how to say things."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from punctual.commands.completing import complete_tenant
from punctual.saying import hint

if TYPE_CHECKING:
    from ports.records import TriggerRecord
    from ports.store import Store
    from ports.time_authority import TimeAuthorityPort
    from punctual.client import ApiClient

PAGE_ROWS: Final = 500
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
        callback=inherited,
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
    """`--json`, as every command has it that answers."""
    option = click.option("--json", "as_json", is_flag=True, callback=inherited, help="Print JSON.")
    return option(function)


def tenant_option(function: Function) -> Function:
    """`--tenant T`."""
    option = click.option(
        "--tenant",
        metavar="TENANT",
        callback=inherited,
        shell_complete=complete_tenant,
        help="Only this tenant's.",
    )
    return option(function)


def limit_option(function: Function) -> Function:
    """`--limit N`, of a list that is whole without it."""
    return click.option(
        "--limit",
        type=click.IntRange(1, 100_000),
        callback=inherited,
        help="At most so many rows; without it, all of them.",
    )(function)


def note_option(help_text: str) -> Callable[[Function], Function]:
    """`--note TEXT`."""
    return click.option("--note", metavar="TEXT", callback=_note, help=help_text)


def yes_option(function: Function) -> Function:
    """`--yes`, of every command that asks."""
    return click.option("--yes", is_flag=True, help="Do not ask before it is done.")(function)


def inherited(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """An option's own value, or the one that was given to the group before the command's name."""
    name, parent = parameter.name or "", ctx.parent
    is_own = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    if is_own or parent is None or name not in parent.params:
        return value
    if parent.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return value
    return parent.params[name]


@contextmanager
def opened(data: Path) -> Iterator["Store"]:
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


@contextmanager
def options_named(options: Mapping[str, str]) -> Iterator[None]:
    """A refusal of these fields names the options that a person gave."""
    from punctual.client import ApiError

    try:
        yield
    except ApiError as error:
        if options.keys().isdisjoint(error.fields):
            raise
        told = (f"{options.get(field, field)}: {text}" for field, text in error.fields.items())
        raise Refusal("; ".join(told)) from error


def clock() -> "TimeAuthorityPort":
    """The machine's clock; a test puts its own into the context's object."""
    from adapters.clock_fixed import FixedClock

    return _given_clock() or FixedClock()


def now_us() -> int:
    """The clock's earliest: what changes are dated with, and what past and future mean."""
    return clock().now().earliest_us


def qualified_name(trigger: "TriggerRecord") -> str:
    """TENANT/NAME."""
    return f"{trigger.tenant_id}/{trigger.name}"


def suggestion(word: str, words: Sequence[str]) -> str:
    """`; did you mean ...?`, or what is known where nothing is close, or nothing."""
    from difflib import get_close_matches

    by_lower = {known.lower(): known for known in words}
    close = get_close_matches(word[:100].lower(), by_lower, n=1)
    if close:
        return f"; did you mean {by_lower[close[0]]}?"
    if not words:
        return ""
    return f"; known: {or_words(sorted(words))}"


def or_words(words: Sequence[str]) -> str:
    """`a, b and c`, or the first few and how many more."""
    shown = list(dict.fromkeys(words))
    if len(shown) > _NAMES_SHOWN_MAX:
        return ", ".join(shown[:_NAMES_SHOWN_MAX]) + f" and {len(shown) - _NAMES_SHOWN_MAX} more"
    return ", ".join(shown[:-1]) + f" and {shown[-1]}" if len(shown) > 1 else shown[0]


def hint_more(count: int, limit: int | None) -> None:
    """Where a list may have been cut."""
    if limit is not None and count >= limit:
        hint(f"(the first {count:,}; more with --limit)")


def _given_clock() -> "TimeAuthorityPort | None":
    given = click.get_current_context().obj
    return given if hasattr(given, "now") else None


def _server_url(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Told alike whether it ends in a slash or not."""
    from urllib.parse import urlsplit

    value = inherited(ctx, parameter, value)
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or parts.query or parts.fragment or parts.username is not None:
        # What stands before an @ may be a password.
        shown = "this" if "@" in value else repr(value)
        raise click.BadParameter(f"{shown} is no URL of a server: write it as http://HOST:PORT")
    return value.rstrip("/")


def _note(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if not value:
        return None  # without the import, which takes longer than the rest of the command
    from scheduling.limits import NOTE_CHARS_MAX

    if len(value) > NOTE_CHARS_MAX:
        raise Refusal(f"--note: has {len(value)} characters; at most {NOTE_CHARS_MAX}")
    return value
