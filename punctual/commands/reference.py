"""The reference of the command line, made from the commands' own help.

`python -m punctual.commands.reference > docs/cli.md` writes it anew.
"""

import click

from punctual.cli import SECTIONS, cli

_WIDTH = 100
_HEAD = """\
# The command line

Made from the commands' own help by `python -m punctual.commands.reference`; do not edit it by hand.

- Every command that reads takes `--json`. Answers are on stdout and remarks on stderr, so a pipe
  holds only the answer.
- Exit codes: 0 done, 1 refused or failed, 2 wrong command line. A failure is one line that names
  the field and the remedy.
- `--data DIR`, or the variable `PUNCTUAL_DATA`, names the folder of the store; without both it is
  `.punctual` in the folder where the command runs.
- A trigger is its name, or `TENANT/NAME` where several tenants have one of that name.
- Times are read and shown in the trigger's own zone. `2026-12-24T17:00:00Z` is an instant,
  `2026-12-24T18:00` a local time.
- Colours are for terminals, and `NO_COLOR` turns them off. `PUNCTUAL_DEBUG=1` shows the traceback
  of a fault of the program.
"""


def cli_reference() -> str:
    """The whole page as Markdown."""
    context = click.Context(cli, info_name="punctual", **cli.context_settings)
    parts = [_HEAD]
    for title, entries in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in entries:
            command = cli.get_command(context, name)
            if command is not None:
                parts += _sections(command, name, context)
    return "\n".join(parts)


def _sections(command: click.Command, name: str, parent: click.Context) -> list[str]:
    """A command's help, and that of its own commands after it."""
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=_WIDTH, max_content_width=_WIDTH
    )
    lines = [line.rstrip() for line in command.get_help(context).splitlines()]
    parts = [f"### {context.command_path}\n", "```text", *lines, "```\n"]
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                parts += _sections(found, child, context)
    return parts


if __name__ == "__main__":
    click.echo(cli_reference(), nl=False)
