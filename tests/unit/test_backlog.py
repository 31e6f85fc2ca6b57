"""What waits on each lane, and when it should have gone."""

from pathlib import Path

import pytest

from control_api.answers.backlog import backlog_answer, backlog_lanes
from ports.records import TenantRecord
from scheduling.instants import SECOND_US, from_text
from scheduling.vocabulary import Lane, MissedPolicy
from tests.support.definitions import TENANT, a_tenant, a_trigger
from tests.support.service import Service

NOW_US = from_text("2026-06-01T09:00:00Z")


def tenant(tenant_id: str = TENANT, *, rate_pct: int = 10) -> TenantRecord:
    return a_tenant(tenant_id, catchup_rate_pct=rate_pct).tenant


@pytest.mark.parametrize(
    ("waiting", "ends_s"),
    [(1, 11), (100, 11), (101, 22), (1_000, 110)],
    ids=str,
)
def test_catch_up_ends_by_the_releasers_own_cap(waiting: int, ends_s: int) -> None:
    # 10 % of 100 a second: 100 in ten seconds, whose buckets of a second make eleven.
    lanes = backlog_lanes([(tenant(), {"catch_up": waiting})], now_us=NOW_US)
    found = {each.lane: each for each in lanes}[Lane.CATCH_UP]
    assert (found.waiting, found.ends_us) == (waiting, NOW_US + ends_s * SECOND_US)
    assert found.assumption == (
        "catch-up at 10 % of 100 fires a second, 100 in 11 s at most, "
        "if nothing more is missed, no run overlaps and the endpoints answer"
    )


def test_lane_without_a_rate_has_no_known_end() -> None:
    on_time = backlog_lanes([(tenant(), {"on_time": 3})], now_us=NOW_US)[0]
    assert (on_time.lane, on_time.waiting, on_time.ends_us) == (Lane.ON_TIME, 3, None)
    assert on_time.assumption.startswith("unknown: no rate")


def test_lane_where_nothing_waits_has_ended() -> None:
    for each in backlog_lanes([(tenant(), {})], now_us=NOW_US):
        assert (each.waiting, each.ends_us, each.assumption) == (0, NOW_US, "nothing waits")


def test_rate_of_zero_has_no_end_and_names_the_tenant() -> None:
    pairs = [(tenant(), {"catch_up": 5}), (tenant("beta", rate_pct=0), {"catch_up": 5})]
    found = backlog_lanes(pairs, now_us=NOW_US)[1]
    assert (found.waiting, found.ends_us) == (10, None)
    assert found.assumption == "unknown: the catch-up rate of beta is 0, so nothing of it goes"


def test_idle_tenant_with_a_rate_of_zero_does_not_matter() -> None:
    pairs = [(tenant(), {"catch_up": 5}), (tenant("beta", rate_pct=0), {"catch_up": 0})]
    found = backlog_lanes(pairs, now_us=NOW_US)[1]
    assert found.ends_us == NOW_US + 11 * SECOND_US


def test_several_tenants_end_with_the_last_of_them() -> None:
    pairs = [(tenant(), {"catch_up": 100}), (tenant("beta", rate_pct=1), {"catch_up": 100})]
    found = backlog_lanes(pairs, now_us=NOW_US)[1]
    assert (found.waiting, found.ends_us) == (200, NOW_US + 110 * SECOND_US)
    assert found.assumption.startswith("each tenant's catch-up at its own rate")


def test_stored_backlog_really_ends_when_it_was_foretold(tmp_path: Path) -> None:
    service = Service(tmp_path, NOW_US + 10 * SECOND_US)
    try:
        service.apply(
            a_trigger("job", missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400),
            a_tenant("beta"),
        )
        service.advance_to("2026-06-01T12:30:30Z")  # nobody decides for 210 minutes
        service.start()
        answer = backlog_answer(
            service.store.registry, service.store.history, tenant_id=TENANT, now_us=service.now_us
        )
        found = answer.lanes[1]
        assert found.waiting > 0
        assert found.ends_us is not None
        service.advance_to(found.ends_us - 12 * SECOND_US)
        assert service.store.history.backlog(TENANT)["catch_up"] > 0
        service.advance_to(found.ends_us + SECOND_US)
        assert service.store.history.backlog(TENANT)["catch_up"] == 0
        other = backlog_answer(
            service.store.registry, service.store.history, tenant_id="beta", now_us=service.now_us
        )
        assert [each.waiting for each in other.lanes] == [0, 0, 0]
    finally:
        service.close()
