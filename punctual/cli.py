"""The command `punctual`: a group whose commands are imported only when they are called.

A failure is one line on stderr that names the field and the remedy, and the exit code says whose
it was: 1 the command's (refused or failed), 2 the command line's.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from punctual.saying import say_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DEBUG_VARIABLE: Final = "PUNCTUAL_DEBUG"
COMPLETE_VARIABLE: Final = "_PUNCTUAL_COMPLETE"
_DECLINED: Final = "Stopped; nothing was changed."
_INTERRUPTED: Final = "Interrupted: a change under way may have been made, so look before a repeat."


class Entry(NamedTuple):
    """Where under `punctual.commands` a command lives, and its line in the list of commands."""

    module: str
    attribute: str
    summary: str


SECTIONS: Final[dict[str, dict[str, Entry]]] = {
    "Run": {
        "up": Entry("up", "up", "Run the service: decide, commit, deliver."),
        "api": Entry("api", "api", "Serve the API alone, beside an `up` or without one."),
        "relay": Entry("relay", "relay", "Publish what changed to the log of events."),
    },
    "Look": {
        "preview": Entry("preview", "preview", "Show what an expression means and when it is due."),
        "triggers": Entry("triggers", "triggers", "List triggers."),
        "fires": Entry("fires", "fires", "List fires, newest first."),
        "why": Entry(
            "why",
            "why_command",
            "Say in one sentence why a trigger fired, or did not, or has not yet.",
        ),
        "upcoming": Entry("upcoming", "upcoming", "Show what is due next."),
        "backlog": Entry("load", "backlog", "Show what waits on each lane."),
        "hot-seconds": Entry("load", "hot_seconds", "Show a tenant's busiest seconds."),
        "status": Entry("status", "status", "Show whether the service can decide and commit now."),
        "audit": Entry("audit", "audit", "List what people and owners did."),
        "events": Entry("events", "events", "List what changed, as a relay published it."),
        "leases": Entry("operate", "leases", "Show who decides which partitions."),
        "version": Entry("operate", "version", "Show the versions of the program."),
    },
    "Change": {
        "apply": Entry(
            "apply", "apply", "Apply manifests: show what they change and make them true."
        ),
        "pause": Entry("pause", "pause", "Stop triggers until they are resumed."),
        "resume": Entry("pause", "resume", "End a pause, or a quarantine."),
        "run": Entry("run", "run", "Fire a trigger once, now, beside its schedule."),
        "cancel": Entry("run", "cancel", "Stop one fire that waits."),
        "delete": Entry("delete", "delete", "End a trigger for good."),
        "horizon": Entry("policy", "horizon", "Set how far back catch-up of a trigger may reach."),
        "import": Entry("import_", "import_", "Convert other schedules to a manifest."),
        "rebuild": Entry("operate", "rebuild", "Derive stored data again."),
        "tzdata": Entry("tzdata", "tzdata", "Show, compare or adopt the zone data."),
    },
    "Share": {
        "tenants": Entry("tenants", "tenants", "List tenants with their quotas, or make one."),
        "targets": Entry("targets", "targets", "List targets, or change them."),
        "calendars": Entry("calendars", "calendars", "List exclusion calendars, or change them."),
        "quota": Entry("policy", "quota", "Show what a tenant may have and send, or set it."),
        "token": Entry(
            "tokens", "token", "Make, list and revoke the tokens that callers of the API send."
        ),
        "grants": Entry("grants", "grants", "List who may do what, or change it."),
    },
    "Keep": {
        "backup": Entry("backup", "backup", "Write the store and its keys to one file."),
        "restore": Entry("backup", "restore", "Put a backup in place as the data folder."),
        "doctor": Entry(
            "doctor", "doctor", "Check machine, data folder and store, and say what to do."
        ),
        "completion": Entry(
            "completion",
            "completion",
            "Print the script that makes a shell complete commands and names.",
        ),
    },
}
_ENTRIES: Final = {name: entry for each in SECTIONS.values() for name, entry in each.items()}


class CommandLine(click.Group):
    """Loads a command's module when it is called; says every failure in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _ENTRIES.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"punctual.commands.{entry.module}")
        command = getattr(module, entry.attribute)
        assert isinstance(command, click.Command)  # noqa: S101 - for the type checker
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table above, so that `--help` imports nothing."""
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, entry.summary) for name, entry in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """From the table above as well: a TAB must not import every command."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=entry.summary)
            for name, entry in _ENTRIES.items()
            if name.startswith(incomplete)
        ]

    def main(self, *args: Any, **options: Any) -> Any:
        """Runs one command line and ends the process with its exit code."""
        options["standalone_mode"] = False
        try:
            code = super().main(*args, **options)
        except click.UsageError as error:
            code = _say(_usage_text(error), error.exit_code)
        except click.ClickException as error:
            code = _say(error.format_message(), error.exit_code)
        except click.Abort as stopped:
            was_asked = not isinstance(stopped.__cause__, KeyboardInterrupt)
            code = _say(_DECLINED if was_asked else _INTERRUPTED, 1)
        except Exception as error:
            if os.environ.get(DEBUG_VARIABLE):
                raise
            code = _say(failure_text(error), 1)
        sys.exit(code if isinstance(code, int) else 0)


@click.command(
    cls=CommandLine,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command that answers takes --json. Exit codes: 0 done, 1 refused or failed, "
    "2 wrong command line.",
)
def cli() -> None:
    """Punctual decides when work is due, commits the decision, and sends it to a target.

    New here? `punctual up --demo` runs the service with something to watch, and
    `punctual preview "0 9 * * MON-FRI" --zone Europe/Berlin` shows what a schedule means.
    """


def main() -> None:
    """The entry point of the installed command."""
    cli.main(prog_name="punctual", complete_var=COMPLETE_VARIABLE)


def failure_text(error: Exception) -> str:
    """What to say of a failure: ours as they are; anything else is a fault of the program."""
    from ports.errors import PortError
    from scheduling.errors import RuleError

    if isinstance(error, (PortError, RuleError)):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f"{error.filename}: "
        return f"{place}{error.strerror}"
    kind = type(error).__name__
    return f"fault of the program: {kind}: {error} (its traceback: {DEBUG_VARIABLE}=1)"


def _usage_text(error: click.UsageError) -> str:
    message = " ".join(error.format_message().split())
    if error.ctx is None:
        return message
    return f"{message} See: {error.ctx.command_path} --help"


def _say(text: str, code: int) -> int:
    say_text(f"punctual: {text}", err=True)
    return code
