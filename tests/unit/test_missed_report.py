"""What a start says was missed: one line for neighbours with one fate, and never a flood."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from control_api.answers.missed_report import LINES_MAX, missed_lines
from scheduling.instants import from_text
from scheduling.vocabulary import MissedPolicy
from tests.support.definitions import a_trigger
from tests.support.service import EPSILON_US, Service

BACK = "2026-06-01T09:40:30Z"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    made = Service(tmp_path, from_text("2026-06-01T09:00:30Z"))
    yield made
    made.close()


def after_an_outage(service: Service, *names: str, **changes: Any) -> list[str]:
    """Each runs every ten minutes in a service that is away until 09:40:30."""
    service.apply(*(a_trigger(name, "*/10 * * * *", **changes) for name in names))
    service.advance_to(BACK)
    service.start()
    return missed_lines(service.store.history, since_us=from_text(BACK) - EPSILON_US)


def test_missed_report_tells_fires_of_their_own_with_one_fate_in_one_line(
    service: Service,
) -> None:
    # 09:40 is 30 s late: that is on time, and nothing is said of it.
    assert after_an_outage(service, "job", missed_policy=MissedPolicy.FIRE_ALL) == [
        "acme/job: 3 instants, 2026-06-01T09:10:00Z to 2026-06-01T09:30:00Z: sent on the catch-up "
        "lane, at its rate"
    ]


def test_missed_report_keeps_triggers_and_fates_apart(service: Service) -> None:
    told = after_an_outage(
        service, "a", "b", missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=1_200
    )
    assert told == [
        line
        for name in ("a", "b")
        for line in (
            f"acme/{name}: 2 instants, 2026-06-01T09:10:00Z to 2026-06-01T09:20:00Z: expired "
            "(horizon 20m, default)",
            f"acme/{name}: 1 instant, 2026-06-01T09:30:00Z: sent on the catch-up lane, at its rate",
        )
    ]


def test_missed_report_counts_what_a_dozen_lines_do_not_hold(service: Service) -> None:
    names = [f"job-{number:02}" for number in range(LINES_MAX + 3)]
    told = after_an_outage(service, *names, missed_policy=MissedPolicy.SKIP)
    assert told[LINES_MAX:] == ["and 3 more; `punctual fires` has them all"]
    assert told[0].endswith("09:10:00Z to 2026-06-01T09:30:00Z: skipped, as its missed policy says")
