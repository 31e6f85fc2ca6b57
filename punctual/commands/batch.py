"""One act on several triggers: the plan, the question, the doing, and the report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from punctual.commands import asking
from punctual.commands.common import Refusal
from punctual.commands.naming import Named, is_pattern
from punctual.commands.tables import Column, print_table
from punctual.commands.wording import count_text
from punctual.progress import progress_bar
from punctual.saying import say, say_json

_PLAN_ROWS_MAX: Final = 20
_PROBLEMS_SHOWN_MAX: Final = 3
_PLAN: Final = (Column("trigger", flexible=20), Column("state"), Column("waiting", right=True))
_DONE: Final = (Column("trigger", flexible=20), Column("became"), Column("stopped", right=True))


class Done(NamedTuple):
    """What became of one trigger: the API's answer, or why it was refused."""

    trigger: Named
    body: Any
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Doing:
    """The act, called with a trigger and the ETag that it is to rest on.

    verb:     as in `pause`
    waiting:  how many waiting fires it stops; None for an act that stops none
    """

    verb: str
    act: Callable[[Named, str | None], Any]
    waiting: Callable[[Named], int] | None = None


def is_one(words: Sequence[str]) -> bool:
    """Whether a single trigger is meant, which needs neither plan nor table."""
    return len(words) == 1 and not is_pattern(words[0])


def do_all(doing: Doing, found: Sequence[Named], *, yes: bool, as_json: bool) -> None:
    """Show the plan and ask on a terminal; do it to each; report. Refusal names what failed.

    A refusal of one does not stop the others, since each is a change of its own.
    """
    is_asked = _asked(doing, found, yes=yes)
    done = []
    with progress_bar(doing.verb.capitalize()) as advance:
        for trigger in found:
            done.append(_done(doing, trigger, trigger.etag if is_asked else None))
            advance(len(done) / len(found))
    if as_json:
        say_json([_json(each) for each in done])
    else:
        print_table(_DONE, [_row(each) for each in done])
    failed = [each for each in done if each.problem is not None]
    if failed:
        told = "; ".join(
            f"{each.trigger.shown}: {each.problem}" for each in failed[:_PROBLEMS_SHOWN_MAX]
        )
        more = len(failed) - _PROBLEMS_SHOWN_MAX
        rest = f"; and {more} more" if more > 0 else ""
        raise Refusal(f"{len(failed)} of {len(done)} were refused: {told}{rest}")


def _asked(doing: Doing, found: Sequence[Named], *, yes: bool) -> bool:
    if yes or not asking.stands_at_terminal():
        return False
    waiting = _counted(doing, found)
    rows = [
        (each.shown, str(each.body["state"]), "" if count is None else f"{count:,}")
        for each, count in zip(found[:_PLAN_ROWS_MAX], waiting, strict=False)
    ]
    columns = _PLAN if doing.waiting is not None else _PLAN[:-1]
    print_table(columns, [row[: len(columns)] for row in rows], err=True)
    if len(found) > _PLAN_ROWS_MAX:
        say(f"and {len(found) - _PLAN_ROWS_MAX:,} more", err=True)
    total = sum(count or 0 for count in waiting)
    stops = f", which stops {count_text(total, 'waiting fire')}" if total else ""
    subject = count_text(len(found), "trigger")
    return asking.confirmed(f"This is to {doing.verb} {subject}{stops}.", yes=yes)


def _counted(doing: Doing, found: Sequence[Named]) -> list[int | None]:
    if doing.waiting is None:
        return [None] * len(found)
    counts: list[int | None] = []
    with progress_bar("Counting") as advance:
        for trigger in found:
            counts.append(doing.waiting(trigger))
            advance(len(counts) / len(found))
    return counts


def _done(doing: Doing, trigger: Named, etag: str | None) -> Done:
    from punctual.client import ApiError

    try:
        return Done(trigger, doing.act(trigger, etag))
    except ApiError as error:
        return Done(trigger, None, str(error))


def _row(done: Done) -> tuple[str, str, str]:
    if done.problem is not None:
        return done.trigger.shown, "refused", ""
    stopped = done.body["stopped_fires"]
    return done.trigger.shown, str(done.body["change"]), f"{stopped:,}" if stopped else ""


def _json(done: Done) -> Any:
    if done.problem is None:
        return done.body
    return {"tenant": done.trigger.tenant, "name": done.trigger.name, "problem": done.problem}
