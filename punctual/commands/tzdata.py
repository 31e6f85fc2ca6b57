"""`punctual tzdata show|diff|adopt`: the zone data of decisions, and what another would move."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click
from dateutil.relativedelta import relativedelta

from control_api.answers.tzdata_diff import (
    MOVED_TRIGGERS_SHOWN_MAX,
    ZoneSide,
    tzdata_diff,
)
from ports.records import TriggerRecord
from ports.registry import RegistryPort
from punctual.commands.common import (
    PAGE_ROWS,
    Refusal,
    data_option,
    json_option,
    now_us,
    opened,
)
from punctual.commands.tzdata_report import (
    MovedDue,
    diff_json,
    due_json,
    hint_rest,
    print_diff,
    print_due,
)
from punctual.progress import progress_bar, waiting
from punctual.saying import say, say_json
from punctual.zone_sources import ZoneSourceRefused, read_zone_source
from scheduling import tzdata_version
from scheduling.instants import from_us, to_us
from scheduling.limits import ADOPTION_COMPARED_MAX, COMPARED_MONTHS_MAX
from scheduling.wall_clock import wall_clock

INSTALLED: Final = "installed"
EXIT_MOVED: Final = 3
_MOVES_SHOWN: Final = 3

_limit_option = click.option(
    "--limit",
    type=click.IntRange(0, MOVED_TRIGGERS_SHOWN_MAX),
    default=20,
    show_default=True,
    help="Name at most so many triggers; all are counted.",
)


@click.group()
def tzdata() -> None:
    """Show, compare or adopt the zone data that decisions rest on."""


@tzdata.command()
@data_option
@json_option
def show(data: Path, as_json: bool) -> None:
    """Show the pinned zone data and this program's."""
    with opened(data) as store:
        pinned, installed = store.due_index.pinned_tzdata(), tzdata_version()
    if as_json:
        say_json({"pinned": pinned, "installed": installed, "matches": pinned == installed})
        return
    say(f"The store is pinned to tzdata {pinned}; this program has {installed}.")
    if pinned != installed:
        say("It must not decide: install the pinned one, or run `punctual tzdata adopt`.")


@tzdata.command()
@click.argument("other", metavar="OTHER")
@click.option(
    "--pinned",
    "pinned_source",
    metavar="SOURCE",
    help="The pinned data, where this program has another version.",
)
@click.option(
    "--months",
    type=click.IntRange(1, COMPARED_MONTHS_MAX),
    default=12,
    show_default=True,
    help="Compare so many months from now.",
)
@_limit_option
@click.option("--exit-code", is_flag=True, help=f"End with {EXIT_MOVED} where a trigger moves.")
@data_option
@json_option
@click.pass_context
def diff(
    context: click.Context,
    other: str,
    pinned_source: str | None,
    months: int,
    limit: int,
    exit_code: bool,
    data: Path,
    as_json: bool,
) -> None:
    """Show which triggers move between the pinned zone data and another.

    OTHER and SOURCE are folders of compiled zone files, tzdata wheels, zips or tar archives, or
    `installed` for this program's own. Nothing is changed.
    """
    with opened(data) as store:
        before = _pinned_side(store.due_index.pinned_tzdata(), pinned_source)
        after = _side(other)
        at_us = now_us()
        with progress_bar("Comparing") as advance:
            found = tzdata_diff(
                store.registry,
                before,
                after,
                now_us=at_us,
                through_us=to_us(from_us(at_us) + relativedelta(months=months)),
                triggers_shown=limit,
                moves_shown=_MOVES_SHOWN,
                progress=advance,
            )
    if as_json:
        say_json(diff_json(found))
    else:
        print_diff(found)
    if exit_code and (found.moved or found.faulty):
        context.exit(EXIT_MOVED)


@tzdata.command()
@_limit_option
@data_option
@json_option
def adopt(limit: int, data: Path, as_json: bool) -> None:
    """Pin this program's zone data, and compute every trigger's next due time by it."""
    from punctual.actor import local_actor

    with opened(data) as store:
        pinned, installed = store.due_index.pinned_tzdata(), tzdata_version()
        triggers = moved = 0
        shown: list[MovedDue] = []
        if pinned != installed:
            with waiting("Adopting"):
                before = _next_due_times(store.registry)
                at_us = now_us()
                triggers, moved = store.due_index.adopt_tzdata(now_us=at_us, actor=local_actor())
                shown = _moved_due(before, store.registry, limit=min(limit, moved))
    if as_json:
        counts = {"was": pinned, "pinned": installed, "triggers": triggers, "moved": moved}
        say_json({**counts, "moved_triggers": [due_json(each) for each in shown]})
        return
    if pinned == installed:
        say(f"The store is pinned to tzdata {installed} already; nothing changed.")
        return
    say(
        f"Pinned tzdata {installed} in place of {pinned}: {moved:,} of {triggers:,} triggers have "
        "another next due time. Decided instants stay as they are."
    )
    if shown:
        say()
        print_due(shown)
    hint_rest(moved - len(shown))


def _pinned_side(pinned: str, source: str | None) -> ZoneSide:
    """The data that the store is pinned to: this program's, or what `--pinned` names."""
    side = _side(INSTALLED if source is None else source)
    if side.version == pinned:
        return side
    if source is None:
        raise Refusal(
            f"--pinned: the store is pinned to tzdata {pinned} and this program has "
            f"{side.version}; name a folder or wheel of {pinned}, such as --pinned tzdata.whl"
        )
    raise Refusal(f"--pinned: {source}: is tzdata {side.version}; the store's pin is {pinned}")


def _side(source: str) -> ZoneSide:
    if source == INSTALLED:
        return ZoneSide(tzdata_version(), wall_clock)
    try:
        found = read_zone_source(Path(source))
    except ZoneSourceRefused as error:
        raise Refusal(str(error)) from None
    return ZoneSide(found.version, found)


def _next_due_times(registry: RegistryPort) -> dict[tuple[str, str], int | None]:
    """What is due next by the pinned data, of as many triggers as memory should hold."""
    triggers = _pages(registry, limit=ADOPTION_COMPARED_MAX)
    return {(each.tenant_id, each.trigger_id): each.next_due_us for each in triggers}


def _moved_due(
    before: dict[tuple[str, str], int | None], registry: RegistryPort, *, limit: int
) -> list[MovedDue]:
    found: list[MovedDue] = []
    for trigger in _pages(registry, limit=ADOPTION_COMPARED_MAX):
        if len(found) >= limit:
            break
        key = (trigger.tenant_id, trigger.trigger_id)
        if key in before and before[key] != trigger.next_due_us:
            found.append(MovedDue(trigger, before[key]))
    return found


def _pages(registry: RegistryPort, *, limit: int) -> Iterable[TriggerRecord]:
    after: tuple[str, str] | None = None
    while limit > 0 and (page := registry.triggers(after=after, limit=min(PAGE_ROWS, limit))):
        yield from page
        after = (page[-1].tenant_id, page[-1].name)
        limit -= len(page)
