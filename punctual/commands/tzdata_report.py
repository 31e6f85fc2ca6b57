"""How `punctual tzdata` tells what moves: tables of triggers, and their JSON."""

from typing import Any, Final, NamedTuple

from control_api.answers.tzdata_diff import MovedTrigger, TzdataDiff
from control_api.answers.zone_times import instant_json, utc_text
from ports.records import TriggerRecord
from punctual.commands.common import qualified_name
from punctual.commands.tables import Cell, Column, print_table
from punctual.saying import hint, say
from scheduling.vocabulary import TriggerState

_MOVED_COLUMNS: Final = (
    Column("trigger", flexible=16),
    Column("zone", droppable=1),
    Column("gone", right=True),
    Column("new", right=True),
    Column("first: before → after (UTC)", flexible=24),
)
_DUE_COLUMNS: Final = (Column("trigger", flexible=16), Column("next due: before → after (UTC)"))


class MovedDue(NamedTuple):
    """A trigger whose next due time is another one since the adoption."""

    trigger: TriggerRecord
    before_us: int | None


def print_diff(found: TzdataDiff) -> None:
    """The counts, a table of the first triggers, and on stderr what it leaves out."""
    through = utc_text(found.through_us)[:10]
    change = f"tzdata {found.before} → {found.after}"
    touched = found.moved + found.faulty
    if not touched:
        say(f"{change}: no trigger of {found.triggers:,} moves through {through}.")
    else:
        say(
            f"{change}: {touched:,} of {found.triggers:,} triggers move through {through} "
            f"({found.gone:,} instants gone, {found.new:,} new)."
        )
    if found.shown:
        say()
        print_table(_MOVED_COLUMNS, [_moved_cells(each) for each in found.shown])
    hint_rest(touched - len(found.shown))
    if found.faulty:
        hint(f"{found.faulty:,} cannot be evaluated by {found.after}: it would quarantine them.")
    if found.unreadable:
        hint(f"{found.unreadable:,} cannot be evaluated by {found.before} either: left out.")
    if found.partial:
        hint(f"{found.partial:,} have too many instants to compare all of them: counts are least.")


def print_due(moved: list[MovedDue]) -> None:
    """One line a trigger whose next due time is another."""
    print_table(_DUE_COLUMNS, [_due_cells(each) for each in moved])


def hint_rest(count: int) -> None:
    """How many triggers were counted and not named."""
    if count > 0:
        hint(f"{count:,} more; see --limit.")


def _moved_cells(found: MovedTrigger) -> list[str | Cell]:
    name = qualified_name(found.trigger)
    if found.trigger.state is not TriggerState.LIVE:
        name += f" ({found.trigger.state})"
    if found.moves is None:
        return [name, found.zone, "", "", Cell(found.fault or "", "red")]
    pairs = [_pair_text(*each) for each in found.moves.first]
    if found.moves.gone + found.moves.new > 2 * len(pairs):
        pairs.append("...")
    return [name, found.zone, f"{found.moves.gone:,}", f"{found.moves.new:,}", ", ".join(pairs)]


def _pair_text(before_us: int | None, after_us: int | None) -> str:
    before = "never" if before_us is None else utc_text(before_us)
    if after_us is None:
        return f"{before} → never"
    return f"{before} → {utc_text(after_us, beside=before)}"


def diff_json(found: TzdataDiff) -> dict[str, Any]:
    """The same for programs."""
    return {
        "before": found.before,
        "after": found.after,
        "from": instant_json(found.now_us),
        "through": instant_json(found.through_us),
        "triggers": found.triggers,
        "moved": found.moved,
        "faulty": found.faulty,
        "unreadable": found.unreadable,
        "partial": found.partial,
        "gone": found.gone,
        "new": found.new,
        "moved_triggers": [_moved_json(each) for each in found.shown],
    }


def _moved_json(found: MovedTrigger) -> dict[str, Any]:
    trigger, moves = found.trigger, found.moves
    facts: dict[str, Any] = {
        "tenant": trigger.tenant_id,
        "trigger": trigger.name,
        "state": trigger.state.value,
        "zone": found.zone,
        "fault": found.fault,
    }
    if moves is not None:
        facts |= {
            "gone": moves.gone,
            "new": moves.new,
            "first": [
                {"before": instant_json(each.before_us), "after": instant_json(each.after_us)}
                for each in moves.first
            ],
            "compared_through": instant_json(moves.compared_through_us),
        }
    return facts


def _due_cells(moved: MovedDue) -> list[str | Cell]:
    return [qualified_name(moved.trigger), _pair_text(moved.before_us, moved.trigger.next_due_us)]


def due_json(moved: MovedDue) -> dict[str, Any]:
    """A trigger that an adoption moved, for programs."""
    return {
        "tenant": moved.trigger.tenant_id,
        "trigger": moved.trigger.name,
        "before": instant_json(moved.before_us),
        "after": instant_json(moved.trigger.next_due_us),
    }
