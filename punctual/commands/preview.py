"""`punctual preview`: what an expression means, without a store or a server."""

from datetime import timedelta
from typing import Any, Final

import click

from control_api.answers.odd_nights import OddNight, mark_of, nights_text, odd_nights
from control_api.answers.zone_times import (
    instant_json,
    local_text,
    offset_text,
    read_bound,
    utc_text,
    wall_text,
)
from punctual.commands.common import Refusal, json_option, now_us, say_json, suggestion
from punctual.commands.tables import Cell, Column, print_table
from scheduling import InvalidRecurrence, Recurrence, compile_recurrence, tzdata_version, zone_names
from scheduling.vocabulary import FoldRule, GapRule

COUNT_MAX: Final = 1_000
_YEAR_US: Final = timedelta(days=366) // timedelta(microseconds=1)
_HOW_TO_QUOTE: Final = 'put each expression in quotes, as in "0 9 * * MON-FRI"'


@click.command()
@click.argument("expressions", metavar="EXPR...", nargs=-1, required=True)
@click.option("--zone", required=True, metavar="ZONE", help="IANA zone, such as Europe/Berlin.")
@click.option("--name", metavar="TENANT/NAME", help="The trigger's, which H is derived from.")
@click.option("--from", "from_text", metavar="T", help="Start after this time  [default: now]")
@click.option(
    "--count",
    type=click.IntRange(1, COUNT_MAX),
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
    instants = recurrence.between_us(after_us, after_us + 600 * _YEAR_US, count)
    nights = odd_nights(recurrence, after_us)
    opinion = _second_opinion(recurrence, zone, after_us)
    if as_json:
        say_json(_json(recurrence, instants, nights=nights, opinion=opinion))
        return
    _print(recurrence, instants, nights=nights, after_us=after_us, opinion=opinion)


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


def _second_opinion(recurrence: Recurrence, zone: str, after_us: int) -> tuple[str, bool]:
    """What croniter says of the next three instants, and whether it agrees or need not."""
    from scheduling.probe import probe

    try:
        result = probe(recurrence.expression, zone, recurrence, after_us)
    except InvalidRecurrence as error:
        return error.reason, False
    if result.theirs_us is None:
        return "croniter was not asked: it cannot read this form", True
    if result.explained_by:
        names = ", ".join(result.explained_by)
        return f"croniter differs on the next {len(result.ours_us)}, as known: {names}", True
    return f"croniter agrees on the next {len(result.ours_us)}", True


def _print(
    recurrence: Recurrence,
    instants: list[int],
    *,
    nights: list[OddNight],
    after_us: int,
    opinion: tuple[str, bool],
) -> None:
    zone = recurrence.zone
    click.echo(recurrence.describe())
    click.echo()
    if instants:
        print_table(
            [Column(f"local ({zone})"), Column("offset"), Column("UTC"), Column("", flexible=12)],
            [_cells(recurrence, instant_us) for instant_us in instants],
        )
    else:
        click.echo("Not due again: no instant lies ahead.")
    click.echo()
    click.echo(nights_text(nights, recurrence.zone, after_us))
    click.echo(f"Second opinion: {opinion[0]}.")
    click.echo(f"tzdata {tzdata_version()}")
    if not opinion[1]:
        raise Refusal(f"expression: {opinion[0]}")


def _cells(recurrence: Recurrence, instant_us: int) -> list[str | Cell]:
    zone = recurrence.zone
    return [
        wall_text(zone, instant_us, weekday=True),
        offset_text(zone, instant_us),
        utc_text(instant_us),
        Cell(mark_of(recurrence, instant_us) or "", "yellow"),
    ]


def _json(
    recurrence: Recurrence,
    instants: list[int],
    *,
    nights: list[OddNight],
    opinion: tuple[str, bool],
) -> dict[str, Any]:
    zone = recurrence.zone
    expression = recurrence.expression
    return {
        "expressions": [expression] if isinstance(expression, str) else list(expression),
        "zone": zone,
        "gap": recurrence.gap.value,
        "fold": recurrence.fold.value,
        "description": recurrence.describe(),
        "instants": [
            {
                "scheduled_instant": instant_json(each),
                "local": local_text(zone, each),
                "weekday": wall_text(zone, each, weekday=True)[:3],
                "mark": mark_of(recurrence, each),
            }
            for each in instants
        ],
        "odd_nights": [night.json() for night in nights],
        "second_opinion": {"agrees_or_explained": opinion[1], "text": opinion[0]},
        "tzdata_version": tzdata_version(),
    }
