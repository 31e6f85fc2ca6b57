"""`punctual completion`: what makes a shell complete this command."""

from typing import Final

import click

SHELLS: Final = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that makes a shell complete commands and names.

    \b
    bash:  eval "$(punctual completion bash)" in ~/.bashrc
    zsh:   eval "$(punctual completion zsh)" in ~/.zshrc
    fish:  punctual completion fish > ~/.config/fish/completions/punctual.fish

    Names of triggers, tenants and targets are asked of the running service; without one, nothing
    is offered.
    """
    from click.shell_completion import get_completion_class

    from punctual.cli import COMPLETE_VARIABLE, cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell} is not a shell that can be completed for.")
    script = kind(cli, {}, "punctual", COMPLETE_VARIABLE)
    click.echo(script.source_template % script.source_vars())
