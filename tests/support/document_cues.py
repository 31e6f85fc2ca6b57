"""What a cue of a page can direct.

    starts T                the page begins at this time, in an empty folder
    file NAME               the block above is the file NAME, in the folder of the commands
    until T                 time passes until then
    service stops           as by Ctrl-C
    service dies            as a machine that loses its power
    target STATUS           what the target answers from now on, as in 503
    target times out        no answer comes
    target is away          nobody listens
    follow until T          the next command that follows is ended then, by Ctrl-C
    fails                   the last command of the next block ends with another code than 0
    attempt-token NAME      the variable NAME holds the token of the newest attempt

Times are RFC 3339 with any offset.
"""

from datetime import datetime
from typing import Final

from scheduling.instants import SECOND_US
from tests.support.document_stage import ANSWERED, Stage
from tests.support.scripted_target import SILENT, UNREACHABLE, Answer

_TARGETS: Final = {"times out": SILENT, "is away": UNREACHABLE}


def instant_us(text: str) -> int:
    """Microseconds of a time with its offset."""
    at = datetime.fromisoformat(text)
    assert at.tzinfo is not None, f"{text}: say the offset too"
    return round(at.timestamp()) * SECOND_US


def direct(stage: Stage, cue: str) -> None:
    """Do what a cue says that needs nothing but the stage. ValueError for what none says."""
    verb, _, rest = cue.partition(" ")
    if verb == "until":
        stage.to(instant_us(rest))
    elif verb == "follow":
        stage.follow_until_us = instant_us(rest.removeprefix("until "))
    elif cue == "service stops":
        stage.stop()
    elif cue == "service dies":
        stage.die()
    elif verb == "target":
        stage.answer = target_answer(rest)
    else:
        raise ValueError(f"{cue!r} is no cue")


def target_answer(text: str) -> Answer:
    """How the target answers every attempt from now on."""
    if text in _TARGETS:
        return _TARGETS[text]
    status = int(text)
    return ANSWERED if status == 200 else ANSWERED._replace(status=status, runs=False)
