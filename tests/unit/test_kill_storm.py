"""The verdict of the SIGKILL test: planted faults fail it, what the policies allow does not."""

from collections.abc import Callable
from typing import Any

import pytest

from scheduling.instants import SECOND_US
from tests.support.http_receiver import Arrival
from tests.support.kill_storm import GRACE_US, HORIZON_US, TENANT, Evidence, Verdict, triggers
from tests.support.ledger_file import LedgerRow
from tests.support.seconds_oracle import instants
from tests.support.store_builders import START_US, at

CREATED_US = START_US + 300_000
ENDS_US = at(60)
LATE_US = GRACE_US + SECOND_US

Plant = Callable[[Evidence], Evidence]


def key(name: str, seconds: int) -> str:
    return f"{TENANT}~id-of-{name}~{at(seconds)}~0"


def a_row(name: str, seconds: int, **changes: Any) -> LedgerRow:
    """Accepted on time, at once."""
    due_us = at(seconds)
    row = LedgerRow(
        key=key(name, seconds),
        trigger=name,
        scheduled_us=due_us,
        sequence=0,
        through_us=None,
        instant_count=1,
        lane="on_time",
        state="accepted",
        cause=None,
        detail=None,
        due_us=due_us,
        next_n=1,
        into_us=None,
        changed_us=due_us + 20_000,
    )
    return row._replace(**changes)


def an_arrival(name: str, seconds: int, *, after_us: int = 10_000, **changes: Any) -> Arrival:
    body = {"trigger": name, "attempt": 1, "payload": {"of": name}} | changes
    return Arrival(key(name, seconds), at(seconds) + after_us, "/fires", body)


def a_world() -> Evidence:
    """A minute in which everything went on time."""
    due = [
        (name, (us - START_US) // SECOND_US)
        for name, kind in triggers()
        for us in instants(kind.seconds, after_us=CREATED_US, through_us=ENDS_US)
    ]
    return Evidence(
        [a_row(name, seconds) for name, seconds in due],
        {name: CREATED_US for name, _ in triggers()},
        [an_arrival(name, seconds) for name, seconds in due],
        {},
    )


def without_arrival(name: str, seconds: int) -> Plant:
    def plant(world: Evidence) -> Evidence:
        arrivals = [each for each in world.arrivals if each.key != key(name, seconds)]
        return world._replace(arrivals=arrivals)

    return plant


def with_arrival(name: str, seconds: int, **changes: Any) -> Plant:
    def plant(world: Evidence) -> Evidence:
        return world._replace(arrivals=[*world.arrivals, an_arrival(name, seconds, **changes)])

    return plant


def with_row(name: str, seconds: int, **changes: Any) -> Plant:
    """Change the row at that instant, or add one."""

    def plant(world: Evidence) -> Evidence:
        others = [row for row in world.rows if row.key != key(name, seconds)]
        return world._replace(rows=[*others, a_row(name, seconds, **changes)])

    return plant


def absent(name: str, seconds: int, cause: str, **changes: Any) -> list[Plant]:
    """Not sent, for a cause that was seen late enough for any."""
    facts = {"state": "not_dispatched", "cause": cause, "changed_us": at(seconds) + LATE_US}
    return [without_arrival(name, seconds), with_row(name, seconds, **(facts | changes))]


def all_absent(cause: str) -> Plant:
    def plant(world: Evidence) -> Evidence:
        rows = [
            row._replace(state="not_dispatched", cause=cause, changed_us=row.due_us + LATE_US)
            for row in world.rows
        ]
        return world._replace(rows=rows, arrivals=[])

    return plant


def told_lost(name: str, seconds: int) -> list[Plant]:
    """Its dispatcher died after the claim."""

    def plant(world: Evidence) -> Evidence:
        return world._replace(last_errors={key(name, seconds): "claim expired"})

    return [without_arrival(name, seconds), with_row(name, seconds, state="unknown"), plant]


def problems(*plants: Plant) -> list[str]:
    world = a_world()
    for plant in plants:
        world = plant(world)
    return Verdict(world, ends_us=ENDS_US).problems()


@pytest.mark.parametrize(
    "plants",
    [
        pytest.param([], id="everything_on_time"),
        pytest.param([with_arrival("each-all-0", 7, attempt=2)], id="sent_twice"),
        pytest.param(absent("each-once-0", 7, "coalesced", into_us=at(8)), id="coalesced"),
        pytest.param(
            [
                *absent("each-once-0", 7, "coalesced", into_us=at(8)),
                *absent("each-once-0", 8, "coalesced", into_us=at(9)),
            ],
            id="coalesced_in_a_chain",
        ),
        pytest.param(absent("third-skip-0", 9, "skipped_by_policy"), id="skipped"),
        pytest.param(
            absent("even-overlap-0", 8, "overlap", changed_us=at(8)), id="overlap_at_once"
        ),
        pytest.param(
            absent("even-buffered-0", 8, "coalesced", into_us=at(10)), id="coalesced_of_overlap"
        ),
        pytest.param(
            [
                *absent("even-overlap-0", 8, "coalesced", into_us=at(10)),
                *absent("even-overlap-0", 10, "overlap", changed_us=at(10)),
            ],
            id="coalesced_into_one_that_met_a_run",
        ),
        pytest.param(
            [
                *absent("even-overlap-0", 8, "coalesced", into_us=at(10)),
                *absent("even-overlap-0", 10, "coalesced", into_us=at(12)),
                *absent("even-overlap-0", 12, "overlap", changed_us=at(12)),
            ],
            id="coalesced_in_a_chain_into_one_that_met_a_run",
        ),
        pytest.param(
            absent(
                "each-once-0", 7, "expired_past_horizon", changed_us=at(7) + HORIZON_US + SECOND_US
            ),
            id="past_the_horizon",
        ),
        pytest.param(told_lost("each-once-0", 7), id="lost_with_its_dispatcher_and_told"),
    ],
)
def test_verdict_on_what_may_be_finds_nothing(plants: list[Plant]) -> None:
    assert problems(*plants) == []


@pytest.mark.parametrize(
    ("plants", "expected"),
    [
        pytest.param([without_arrival("each-all-0", 7)], "never received", id="key_missing"),
        pytest.param([without_arrival("each-once-0", 7)], "never received", id="of_once_missing"),
        pytest.param([with_arrival("each-all-0", 61)], "not in the ledger", id="key_extra"),
        pytest.param(
            [with_row("each-all-0", 61), with_arrival("each-all-0", 61)],
            "was never due",
            id="key_extra_with_a_row",
        ),
        pytest.param(
            [with_arrival("even-once-0", 8, after_us=-1)], "early by 1 us", id="early_arrival"
        ),
        pytest.param(
            [with_arrival("each-all-0", 7, version=2)],
            "another body under one key",
            id="two_bodies",
        ),
        pytest.param(
            [with_arrival("each-all-0", 7, payload={"of": "each-all-1"})],
            "not its payload",
            id="foreign_payload",
        ),
        pytest.param(
            [with_row("each-once-0", 7, state="not_dispatched", cause="coalesced")],
            "not dispatched, but received",
            id="sent_all_the_same",
        ),
        pytest.param(
            absent("each-all-0", 7, "coalesced", into_us=at(8)),
            "against its policy",
            id="coalesced_under_fire_all",
        ),
        pytest.param(
            absent("each-all-0", 7, "expired_past_horizon", changed_us=at(7) + 2 * HORIZON_US),
            "against its policy",
            id="expired_under_fire_all",
        ),
        pytest.param(
            absent("each-once-0", 7, "skipped_by_policy"),
            "against its policy",
            id="skipped_under_once",
        ),
        pytest.param(
            absent("third-skip-0", 9, "coalesced", into_us=at(12)),
            "against its policy",
            id="coalesced_under_skip",
        ),
        pytest.param(
            absent("each-once-0", 7, "overlap"), "against its policy", id="overlap_under_allow"
        ),
        pytest.param(
            absent("each-once-0", 7, "expired_past_horizon", changed_us=at(7) + HORIZON_US),
            "against its policy",
            id="expired_within_the_horizon",
        ),
        pytest.param(
            absent("third-skip-0", 9, "skipped_by_policy", changed_us=at(9) + GRACE_US),
            "against its policy",
            id="skipped_within_the_grace",
        ),
        pytest.param(
            absent("each-once-0", 7, "coalesced"), "against its policy", id="coalesced_into_none"
        ),
        pytest.param(
            absent("each-once-0", 60, "coalesced", into_us=at(61)),
            "against its policy",
            id="coalesced_into_no_row",
        ),
        pytest.param(
            [
                *absent("third-skip-0", 12, "skipped_by_policy"),
                *absent("even-once-0", 8, "coalesced", into_us=at(8)),
            ],
            "against its policy",
            id="coalesced_into_itself",
        ),
        *(
            pytest.param(
                [
                    *absent("even-overlap-0", 8, "coalesced", into_us=at(10)),
                    *absent("even-overlap-0", 10, cause, changed_us=at(10) + 2 * HORIZON_US),
                ],
                f"against its policy: LedgerRow(key='{key('even-overlap-0', 8)}'",
                id=f"coalesced_into_one_that_was_{cause}",
            )
            for cause in ("expired_past_horizon", "skipped_by_policy", "paused", "coalesced")
        ),
        pytest.param(
            absent("even-overlap-0", 8, "coalesced", into_us=at(9)),
            "against its policy",
            id="coalesced_into_no_instant_of_overlap",
        ),
        pytest.param(
            [
                *absent("even-overlap-0", 8, "coalesced", into_us=at(10)),
                *absent("even-overlap-0", 10, "coalesced", into_us=at(8)),
            ],
            "against its policy",
            id="coalesced_in_a_circle",
        ),
        pytest.param(
            [
                *absent("even-overlap-0", 10, "coalesced", into_us=at(8)),
                *absent("even-overlap-0", 8, "overlap", changed_us=at(8)),
            ],
            "against its policy",
            id="coalesced_into_an_older_one_that_met_a_run",
        ),
        pytest.param(
            [
                *absent("even-once-0", 8, "coalesced", into_us=at(10)),
                *absent("even-once-0", 10, "overlap", changed_us=at(10)),
            ],
            "against its policy",
            id="coalesced_into_one_that_met_a_run_where_runs_may_overlap",
        ),
        pytest.param(told_lost("each-all-0", 7), "never received", id="lost_under_fire_all"),
        pytest.param(
            [without_arrival("each-once-0", 7), with_row("each-once-0", 7, state="unknown")],
            "never received",
            id="lost_and_not_told",
        ),
    ],
)
def test_verdict_on_a_planted_fault_names_it(plants: list[Plant], expected: str) -> None:
    found = problems(*plants)
    assert expected in "\n".join(found)
    assert len(found) <= 3


@pytest.mark.parametrize("cause", ["skipped_by_policy", "coalesced", "overlap"])
def test_verdict_on_everything_left_out_complains_of_every_trigger(cause: str) -> None:
    found = "\n".join(problems(all_absent(cause)))
    for name, _ in triggers():
        assert f"{name}: " in found


def test_verdict_on_most_left_out_with_good_cause_complains_of_too_few() -> None:
    plants = [
        plant
        for seconds in range(3, 60, 3)
        if seconds > 15
        for plant in absent("third-skip-0", seconds, "skipped_by_policy")
    ]
    assert problems(*plants) == ["third-skip-0: only 6 of 20 received"]


@pytest.mark.parametrize(
    ("first", "expected"),
    [(18, []), (16, ["even-overlap-0: only 8 of 30 received"])],
    ids=["a_third_received", "a_quarter_received"],
)
def test_verdict_on_much_overlap_complains_of_too_few(first: int, expected: list[str]) -> None:
    plants = [
        plant
        for seconds in range(first, 60, 2)
        for plant in absent("even-overlap-0", seconds, "overlap", changed_us=at(seconds))
    ]
    assert problems(*plants) == expected
