"""How everything is said that a person reads: in lines, with control characters shown as escapes.

What a server, a store or a manifest holds may be anybody's text; it may not steer the terminal, nor
begin a line that looks like one of ours.
"""

import json
import sys

import click

from schemas.printable import printable


def say(*lines: str, err: bool = False) -> None:
    """Each as one line, whatever stands in it; without any, an empty one."""
    click.echo("\n".join(map(printable, lines)), err=err)


def say_text(text: str, *, err: bool = False) -> None:
    """Several lines of ours, in which the text of others has been made printable."""
    say(*text.split("\n"), err=err)


def hint(text: str) -> None:
    """A remark beside the answer: on stderr, so that a pipe holds only the answer."""
    say(text, err=True)


def say_json(value: object) -> None:
    """One JSON document on stdout."""
    click.echo(json_text(value, indent=2))


def say_json_line(value: object) -> None:
    """One line of JSON on stdout, at once."""
    click.echo(json_text(value))
    sys.stdout.flush()


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON of which a terminal shows every character: the others are escapes of JSON."""
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines)


def _escaped(line: str) -> str:
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)
