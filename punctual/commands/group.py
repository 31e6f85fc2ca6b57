"""A command that lists, and commands under it: `punctual fires` is `punctual fires list`."""

from typing import Any, Final

import click

_LIST: Final = "list"


class ListingGroup(click.Group):
    """What is not the name of a command is meant for its `list`, whose help it shows as its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        # A shell's TAB may still be in the group's own name: see `shell_complete`.
        if not is_named and (args or not ctx.resilient_parsing):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands, and what stands in the place of the first of them for `list`."""
        listing = self.commands[_LIST]
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            return listing.shell_complete(ctx, incomplete)
        for parameter in listing.params:
            if isinstance(parameter, click.Argument):
                return [*found, *parameter.shell_complete(ctx, incomplete)]
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in super().list_commands(ctx) if name != _LIST]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return self.commands[_LIST].collect_usage_pieces(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        click.Command.format_options(self.commands[_LIST], ctx, formatter)
        self.format_commands(ctx, formatter)


def listing_group(function: Any) -> ListingGroup:
    """A group that does nothing itself; its docstring is the help."""
    group = click.group(cls=ListingGroup)(function)
    assert isinstance(group, ListingGroup)  # noqa: S101 -- for the type checker
    return group
