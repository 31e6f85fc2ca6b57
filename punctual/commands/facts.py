"""One thing in full: its facts, a line each."""

from collections.abc import Iterable

from punctual.saying import say


def print_facts(facts: Iterable[tuple[str, str | None]]) -> None:
    """Label and text of each; those without a text are left out."""
    told = [(label, text) for label, text in facts if text]
    width = max((len(label) for label, _ in told), default=0)
    for label, text in told:
        say(f"{label:<{width}}  {text}")
