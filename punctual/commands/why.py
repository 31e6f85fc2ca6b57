"""`punctual why`: the one sentence about an instant, as people read it."""

from pathlib import Path

import click

from control_api.answers.why_reader import FactReader
from control_api.operations.why import about, newest_and_next
from punctual.commands.common import (
    Refusal,
    data_option,
    find_trigger,
    json_option,
    now_us,
    opened,
    say_json,
    tenant_option,
)
from schemas.api.why import WhyAnswer
from schemas.printable import printable


@click.command(name="why")
@click.argument("trigger")
@click.argument("instant", required=False)
@tenant_option
@data_option
@json_option
def why_command(
    trigger: str, instant: str | None, tenant: str | None, data: Path, as_json: bool
) -> None:
    """Say in one sentence why a trigger fired, or did not, or has not yet.

    INSTANT is as 2026-12-24T17:00:00Z, or a local time of the trigger's zone; without it the
    newest fire and the next instant are told.
    """
    with opened(data) as store:
        found = find_trigger(store.registry, trigger, tenant)
        reader = FactReader(store, found, at_us=now_us())
        try:
            answers = newest_and_next(reader) if instant is None else about(reader, instant)
        except ValueError as error:
            raise Refusal(str(error)) from None
    if as_json:
        say_json([answer.model_dump(mode="json") for answer in answers])
        return
    for answer in answers:
        lead = _lead(answer, zone=reader.zone, instant=instant)
        click.echo(printable(f"{lead}{answer.sentence}"))


def _lead(answer: WhyAnswer, *, zone: str, instant: str | None) -> str:
    if answer.about == "asked":
        return ""
    if answer.about == "after_gap":
        return f"The clock in {zone} skips {instant}; the first instant after it: "
    return answer.about.replace("_", " ").capitalize() + ": "
