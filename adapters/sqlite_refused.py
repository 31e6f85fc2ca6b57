"""How the work inside a change transaction says no."""

from collections.abc import Sequence

from ports.errors import ChangeProblem, ProblemKind


class Refused(Exception):
    """One change's problems, collected until all changes of the call were looked at.

    Raised before the change wrote anything, or the transaction rolls back with it.
    """

    def __init__(self, problems: Sequence[ChangeProblem]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)


def refused(text: str, kind: ProblemKind, field: str) -> Refused:
    """For the commonest case: one problem."""
    return Refused([ChangeProblem(text, kind, field)])


def stale(subject: str, expected: int, found: int) -> Refused:
    """`found` is the current revision, 0 where the subject does not exist."""
    if expected == 0:
        text = f"revision: {subject} exists already, with revision {found}"
    elif found == 0:
        text = f"revision: {subject} does not exist; expected was revision {expected}"
    else:
        text = f"revision: {subject} has revision {found}, expected was {expected}"
    return refused(f"{text}: read it and try again", ProblemKind.STALE, "revision")
