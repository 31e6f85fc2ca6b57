"""Two zone data sets side by side: which instants one takes away and the other adds."""

import pickle
import struct
from datetime import date
from typing import Any

import pytest

from scheduling import InvalidRecurrence, Recurrence, compile_recurrence
from scheduling.instants import from_text, to_text
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import wall_clock
from scheduling.zone_data import ZoneData
from scheduling.zone_moves import compare_recurrences, zone_differs
from scheduling.zones import load_zone, read_zone
from tests.support.zone_files import pinned_file

FROM = "2026-06-01T00:00:00Z"
YEAR_LATER = "2027-06-01T00:00:00Z"


def other(**files: str) -> ZoneData:
    """Another data set, in which Europe/Berlin's file is that of another zone."""
    berlin = files.get("berlin", "America/Sao_Paulo")
    return ZoneData(
        "2099z", {"Europe/Berlin": pinned_file(berlin), "Europe/Paris": pinned_file("Europe/Paris")}
    )


def sides(
    *expressions: str, data: ZoneData | None = None, **rules: Any
) -> tuple[Recurrence, Recurrence]:
    written = expressions[0] if len(expressions) == 1 else expressions
    return (
        compile_recurrence(written, "Europe/Berlin", **rules),
        compile_recurrence(
            written, "Europe/Berlin", clocks=other() if data is None else data, **rules
        ),
    )


def texts(pairs: Any) -> list[tuple[str | None, ...]]:
    return [tuple(None if each is None else to_text(each) for each in pair) for pair in pairs]


def compare(pair: tuple[Recurrence, Recurrence], **changes: Any) -> Any:
    facts = {"after_us": from_text(FROM), "through_us": from_text(YEAR_LATER), "first_max": 2}
    return compare_recurrences(*pair, **{**facts, **changes})


def test_recurrence_of_other_data_never_meets_the_pinned_tables() -> None:
    pinned, changed = sides("0 9 * * *")
    # Berlin is at +02:00 in June, Sao Paulo at -03:00.
    assert to_text(pinned.next_after_us(from_text(FROM)) or 0) == "2026-06-01T07:00:00Z"
    assert to_text(changed.next_after_us(from_text(FROM)) or 0) == "2026-06-01T12:00:00Z"
    again = compile_recurrence("0 9 * * *", "Europe/Berlin")
    assert to_text(again.next_after_us(from_text(FROM)) or 0) == "2026-06-01T07:00:00Z"


def test_exclusions_of_other_data_follow_its_own_clock() -> None:
    pinned, changed = sides("every 1h", exclusions=[date(2026, 6, 1)])
    # The date begins at 22:00Z in Berlin and at 03:00Z in Sao Paulo.
    assert to_text(pinned.next_after_us(from_text("2026-06-01T00:30:00Z")) or 0) == (
        "2026-06-01T22:00:00Z"
    )
    assert to_text(changed.next_after_us(from_text("2026-06-01T00:30:00Z")) or 0) == (
        "2026-06-01T01:00:00Z"
    )
    assert to_text(changed.next_after_us(from_text("2026-06-01T02:30:00Z")) or 0) == (
        "2026-06-02T03:00:00Z"
    )


def test_recurrence_of_other_data_pickles_with_its_data() -> None:
    _, changed = sides("0 9 * * *")
    again = pickle.loads(pickle.dumps(changed))
    assert again.next_after_us(from_text(FROM)) == changed.next_after_us(from_text(FROM))


def test_describe_of_other_data_leaves_out_what_its_clock_never_does() -> None:
    pinned, changed = sides("30 2 * * *")
    assert "a time that the clock skips" in pinned.describe()
    assert "a time that the clock skips" not in changed.describe()


def test_daily_trigger_moves_every_day_from_what_to_what() -> None:
    found = compare(sides("0 9 * * *"))
    assert (found.gone, found.new) == (365, 365)
    assert found.compared_through_us == from_text(YEAR_LATER)
    assert texts(found.first) == [
        ("2026-06-01T07:00:00Z", "2026-06-01T12:00:00Z"),
        ("2026-06-02T07:00:00Z", "2026-06-02T12:00:00Z"),
    ]


def test_office_hours_show_the_local_time_that_each_gone_and_new_instant_has() -> None:
    june = {"through_us": from_text("2026-06-01T23:59:59Z"), "first_max": 20}
    found = compare(sides("0 9-17 * * *"), **june)
    # 07:00Z to 15:00Z against 12:00Z to 20:00Z.
    assert (found.gone, found.new) == (5, 5)
    assert texts(found.first)[0] == ("2026-06-01T07:00:00Z", "2026-06-01T12:00:00Z")
    assert texts(found.first)[-1] == ("2026-06-01T15:00:00Z", "2026-06-01T20:00:00Z")


def test_elapsed_time_without_an_anchor_never_moves() -> None:
    found = compare(sides("every 90m"))
    assert (found.gone, found.new, found.first) == (0, 0, ())


@pytest.mark.parametrize("expression", ["* * * * *", "*/15 * * * *", "every 7m"])
def test_same_instants_under_another_offset_are_no_move(expression: str) -> None:
    found = compare(sides(expression))
    assert (found.gone, found.new) == (0, 0)


def test_elapsed_time_from_a_local_anchor_moves_with_it() -> None:
    found = compare(sides("every 24h from 2026-01-01T09:00"), first_max=1)
    # The anchor is 08:00Z in Berlin and 12:00Z in Sao Paulo.
    assert (found.gone, found.new) == (365, 365)
    assert texts(found.first) == [("2026-06-01T08:00:00Z", "2026-06-01T12:00:00Z")]


def test_skipped_night_alone_is_the_one_move() -> None:
    # Tunis keeps +01:00 all year, as Berlin does in winter: from the last Sunday of March on
    # everything is an hour later. Compared is only the night of the change, 2027-03-28.
    pair = sides("30 2 * * *", data=other(berlin="Africa/Tunis"))
    window = {
        "after_us": from_text("2027-03-26T12:00:00Z"),
        "through_us": from_text("2027-03-28T12:00:00Z"),
    }
    found = compare(pair, **window)
    # 02:30 is skipped in Berlin and becomes 03:00 +02:00; in Tunis it is 02:30 +01:00.
    assert texts(found.first) == [("2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z")]
    assert (found.gone, found.new) == (1, 1)


def test_second_pass_that_another_data_set_lacks_is_gone_for_good() -> None:
    pair = sides("30 2 * * *", data=other(berlin="Africa/Algiers"), fold=FoldRule.BOTH)
    window = {
        "after_us": from_text("2026-10-24T12:00:00Z"),
        "through_us": from_text("2026-10-25T12:00:00Z"),
    }
    # 02:30 comes at 00:30Z and 01:30Z in Berlin; in Algiers (+01:00) at 01:30Z alone.
    found = compare(pair, **window)
    assert (found.gone, found.new) == (1, 0)
    assert texts(found.first) == [("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z")]


def test_counterpart_beyond_the_compared_window_is_still_named() -> None:
    found = compare(sides("0 9 1 6 *"), through_us=from_text("2026-06-01T10:00:00Z"))
    assert (found.gone, found.new) == (1, 0)
    assert texts(found.first) == [("2026-06-01T07:00:00Z", "2026-06-01T12:00:00Z")]


def test_instant_without_anything_like_it_on_the_other_side_is_gone() -> None:
    pinned, _ = sides("0 9 1 6 *")
    none_left = compile_recurrence("0 9 2 1 *", "Europe/Berlin", clocks=other())
    found = compare((pinned, none_left), through_us=from_text("2026-06-02T00:00:00Z"))
    assert texts(found.first) == [("2026-06-01T07:00:00Z", None)]


@pytest.mark.parametrize(
    ("fires_left", "expected"), [(0, (0, 0)), (3, (3, 3)), (10_000_000, (365, 365))]
)
def test_fires_left_bound_what_can_move(fires_left: int, expected: tuple[int, int]) -> None:
    found = compare(sides("0 9 * * *"), fires_left=fires_left)
    assert (found.gone, found.new) == expected


def test_comparison_stops_at_its_bound_and_says_where() -> None:
    found = compare(sides("0 9 * * *"), instants_max=10)
    assert (found.gone, found.new) == (10, 9)  # Berlin's tenth comes before Sao Paulo's tenth
    assert to_text(found.compared_through_us) == "2026-06-10T07:00:00Z"


def test_comparison_in_pieces_equals_a_comparison_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = sides("*/7 3-5 * * *", "0 12 * * 1")
    whole = compare(pair)
    monkeypatch.setattr("scheduling.zone_moves._CHUNK_INSTANTS", 11)
    assert compare(pair) == whole
    one, two = (
        set(each.between_us(from_text(FROM), from_text(YEAR_LATER), 100_000)) for each in pair
    )
    assert (whole.gone, whole.new) == (len(one - two), len(two - one))


@pytest.mark.parametrize(
    ("zone", "differs"), [("Europe/Berlin", True), ("Europe/Paris", False)], ids=str
)
def test_zone_differs_where_its_file_does(zone: str, differs: bool) -> None:
    assert zone_differs(zone, wall_clock, other()) is differs


def test_zone_that_the_other_lacks_is_refused_with_its_version() -> None:
    with pytest.raises(InvalidRecurrence, match="not a zone of tzdata 2099z"):
        zone_differs("Europe/London", wall_clock, other())


def test_clocks_of_equal_content_are_shared_between_data_sets() -> None:
    rules = (GapRule.SKIP, FoldRule.BOTH)
    assert other()("Europe/Paris", *rules) is wall_clock("Europe/Paris", *rules)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"TZif2",
        lambda content: content[:200],
        lambda content: b"PK\3\4" + content,
        lambda content: content[:-4],
        lambda content: content.replace(b"CET-1CEST", b"CET-1CE!T"),
        lambda content: content.replace(b"CET-1CEST", b"CET-99CES"),
        lambda content: content[:20] + struct.pack(">6l", *[2**31 - 1] * 6) + content[44:],
        lambda content: content[:20] + struct.pack(">6l", *[-1] * 6) + content[44:],
    ],
    ids=["empty", "head", "short", "zip", "footer", "rule", "offset", "huge", "negative"],
)
def test_damaged_zone_file_is_a_value_error(damage: Any) -> None:
    with pytest.raises(ValueError, match="no zone file that can be used"):
        read_zone(damage(pinned_file("Europe/Berlin")))


def test_zone_file_whose_changes_run_backwards_is_refused() -> None:
    content = pinned_file("Europe/Berlin")
    times = [at for at in load_zone("Europe/Berlin").starts if 0 < at < 1_000_000_000][:2]
    first, second = (struct.pack(">q", at) for at in times)
    swapped = content.replace(first + second, second + first)
    assert swapped != content
    with pytest.raises(ValueError, match="not in the order of time"):
        read_zone(swapped)
