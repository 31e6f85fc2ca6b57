"""What the work reports of a fire."""

from typing import Literal

from pydantic import Field

from scheduling.limits import NOTE_CHARS_MAX
from scheduling.vocabulary import FireState
from schemas.api.common import In, Out


class OutcomeIn(In):
    """The token names the attempt, and so the fire; `fire_key` is for a check of your own."""

    outcome: Literal["succeeded", "failed"]
    fire_key: str | None = Field(default=None, max_length=512)
    cause: str | None = Field(default=None, min_length=1, max_length=NOTE_CHARS_MAX)


class OutcomeOut(Out):
    """is_taken:  whether the fire's state is now the one reported

    It is not after another end, and later than the trigger's `outcome_window`.
    """

    fire_key: str
    state: FireState
    is_taken: bool
