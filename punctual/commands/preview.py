"""`punctual preview`: what an expression means, without a store or a server."""

from typing import Any, Final

import click

from control_api.answers.odd_nights import mark_of, nights_text
from control_api.answers.preview import PREVIEW_MAX, Preview, preview_of
from control_api.answers.zone_times import (
    instant_json,
    local_text,
    offset_text,
    read_bound,
    utc_text,
    wall_text,
)
from punctual.commands.common import Refusal, json_option, now_us, suggestion
from punctual.commands.completing import complete_zone
from punctual.commands.tables import Cell, Column, print_table
from punctual.saying import say, say_json, say_text
from scheduling import InvalidRecurrence, Recurrence, compile_recurrence, tzdata_version, zone_names
from scheduling.vocabulary import FoldRule, GapRule

_HOW_TO_QUOTE: Final = 'put each expression in quotes, as in "0 9 * * MON-FRI"'


@click.command()
@click.argument("expressions", metavar="EXPR...", nargs=-1, required=True)
@click.option(
    "--zone",
    required=True,
    metavar="ZONE",
    shell_complete=complete_zone,
    help="IANA zone, such as Europe/Berlin.",
)
@click.option("--name", metavar="TENANT/NAME", help="The trigger's, which H is derived from.")
@click.option("--from", "from_text", metavar="T", help="Start after this time  [default: now]")
@click.option(
    "--count",
    type=click.IntRange(1, PREVIEW_MAX),
    default=10,
    show_default=True,
    help="How many instants.",
)
@click.option(
    "--gap",
    type=click.Choice([each.value for each in GapRule]),
    default=GapRule.SHIFT_FORWARD.value,
    show_default=True,
    help="What becomes of local times that the clock skips.",
)
@click.option(
    "--fold",
    type=click.Choice([each.value for each in FoldRule]),
    default=FoldRule.FIRST.value,
    show_default=True,
    help="Which pass counts of local times that the clock repeats.",
)
@json_option
def preview(
    expressions: tuple[str, ...],
    zone: str,
    name: str | None,
    from_text: str | None,
    count: int,
    gap: str,
    fold: str,
    as_json: bool,
) -> None:
    """Show what an expression means and when it is due.

    Several expressions are one schedule: it is due whenever any of them is. Put each in quotes.
    """
    recurrence = _compiled(expressions, zone, gap=gap, fold=fold, identity=_identity(name))
    try:
        after_us = (
            now_us()
            if from_text is None
            else read_bound(from_text, zone, field="--from", now_us=now_us())
        )
    except ValueError as error:
        raise Refusal(str(error)) from None
    found = preview_of(recurrence, after_us, count=count)
    if as_json:
        say_json(_json(found))
        return
    _print(found)


def _compiled(
    expressions: tuple[str, ...],
    zone: str,
    *,
    gap: str,
    fold: str,
    identity: tuple[str, str] | None,
) -> Recurrence:
    try:
        expression = _as_written(expressions)
        return compile_recurrence(expression, zone, gap=gap, fold=fold, identity=identity)
    except InvalidRecurrence as error:
        raise Refusal(_remedy(error, expressions)) from None


def _as_written(expressions: tuple[str, ...]) -> str | tuple[str, ...]:
    """One text for one expression; words that the shell took apart, as in `every 15m`, are one."""
    if len(expressions) == 1:
        return expressions[0]
    if _is_taken_apart(expressions):
        return " ".join(expressions)
    return expressions


def _is_taken_apart(expressions: tuple[str, ...]) -> bool:
    return len(expressions) > 1 and not any(
        " " in each.strip() or each.startswith("@") for each in expressions
    )


def _remedy(error: InvalidRecurrence, expressions: tuple[str, ...]) -> str:
    if error.field == "zone":
        return f"--{error}{suggestion(error.item, sorted(zone_names())) if error.item else ''}"
    if _is_taken_apart(expressions):
        return f"{error}; {_HOW_TO_QUOTE}"
    if "was given" in error.reason:
        return f"{error}: add --name TENANT/NAME"
    return str(error)


def _identity(name: str | None) -> tuple[str, str] | None:
    if name is None:
        return None
    tenant, slash, trigger = name.partition("/")
    if not (tenant and slash and trigger):
        raise Refusal(f"--name: {name!r}: write TENANT/NAME, as in acme/nightly")
    return tenant, trigger


def _print(found: Preview) -> None:
    recurrence, zone = found.recurrence, found.recurrence.zone
    say_text(recurrence.describe())
    say()
    if found.instants_us:
        print_table(
            [Column(f"local ({zone})"), Column("offset"), Column("UTC"), Column("", flexible=12)],
            [_cells(recurrence, instant_us) for instant_us in found.instants_us],
        )
    else:
        say("Not due again: no instant lies ahead.")
    say()
    say_text(nights_text(found.nights, zone, found.after_us))
    say(f"Second opinion: {found.opinion.text}.")
    say(f"tzdata {tzdata_version()}")
    if not found.opinion.agrees:
        raise Refusal(f"expression: {found.opinion.text}")


def _cells(recurrence: Recurrence, instant_us: int) -> list[str | Cell]:
    zone = recurrence.zone
    return [
        wall_text(zone, instant_us, weekday=True),
        offset_text(zone, instant_us),
        utc_text(instant_us),
        Cell(mark_of(recurrence, instant_us) or "", "yellow"),
    ]


def _json(found: Preview) -> dict[str, Any]:
    """The body that the API answers of a schedule without smear."""
    recurrence, zone = found.recurrence, found.recurrence.zone
    expression = recurrence.expression
    return {
        "says": recurrence.describe(),
        "schedule": [expression] if isinstance(expression, str) else list(expression),
        "zone": zone,
        "instants": [
            {
                "scheduled_instant": instant_json(each),
                "local": local_text(zone, each),
                "offset": offset_text(zone, each),
                "weekday": wall_text(zone, each, weekday=True)[:3],
                "due_at": instant_json(each),
                "due_latest": instant_json(each),
                "mark": mark_of(recurrence, each),
            }
            for each in found.instants_us
        ],
        "odd_nights": [night.json() for night in found.nights],
        "second_opinion": found.opinion._asdict(),
        "tzdata_version": tzdata_version(),
    }
