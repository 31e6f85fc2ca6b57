"""Asking a person before something is done; nobody is asked where nobody could answer."""

import sys

import click

from schemas.printable import printable


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether a person was asked, and agreed; click.Abort where they did not."""
    if yes or not stands_at_terminal():
        return False
    click.confirm(printable(f"{question} Go on?"), abort=True, err=True)
    return True


def stands_at_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()
