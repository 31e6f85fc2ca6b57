"""`python -m tests.docs FILE...`: play pages, and write what came into their blocks.

For a person to look at afterwards, with `git diff`: what came is not yet what should have come.
"""

import sys
from pathlib import Path

import click

from tests.support.document_play import play
from tests.support.documents import rewritten


@click.command()
@click.argument(
    "pages", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
def main(pages: tuple[Path, ...]) -> None:
    """Write what came into the blocks of console and http of these pages."""
    for page in (each.resolve() for each in pages):
        text = page.read_text(encoding="utf-8")
        wrong = [each for each in play(text) if not each.is_true]
        page.write_text(
            rewritten(text, {each.block.line: each.actual for each in wrong}), encoding="utf-8"
        )
        lines = ", ".join(str(each.block.line) for each in wrong)
        click.echo(f"{page.name}: {f'rewrote the blocks at {lines}' if wrong else 'all true'}")
        for each in wrong:
            if each.problem is not None:
                click.echo(f"{page.name}:{each.block.line}: {each.problem}")


if __name__ == "__main__":
    sys.exit(main())
