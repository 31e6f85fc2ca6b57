"""Errors of the rules. All of them pickle."""

from scheduling.limits import ECHO_CHARS_MAX


class RuleError(Exception):
    """A trigger's own definition cannot be evaluated: quarantines that one trigger."""


class InvalidRecurrence(RuleError, ValueError):
    """A recurrence was refused.

    field:  the part that is wrong (`minute`, `hour`, `day_of_month`, `zone`, `expression`, ...)
    item:   the offending item, at most 40 characters of it
    reason: what is wrong and what would be right
    """

    def __init__(self, field: str, item: str, reason: str) -> None:
        self.field = field
        self.item = item if len(item) <= ECHO_CHARS_MAX else item[: ECHO_CHARS_MAX - 3] + "..."
        self.reason = reason
        super().__init__(field, self.item, reason)

    def __str__(self) -> str:
        return (
            f"{self.field}: {self.item!r}: {self.reason}"
            if self.item
            else (f"{self.field}: {self.reason}")
        )
