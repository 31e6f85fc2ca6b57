"""Readiness as probes read it: one look a second, however many ask."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from control_api.app import create_app
from control_api.health import Health
from ports.signals import SignalsPort
from scheduling.limits import READINESS_KEPT_US
from tests.support.api import Api


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch, api: Api) -> list[int]:
    """When the store was asked to prove that it can commit, by its own clock."""
    times: list[int] = []
    signals: SignalsPort = api.services.store.signals
    prove = signals.prove_commit

    def counted(*, now_us: int, **rest: Any) -> None:
        times.append(now_us)
        prove(now_us=now_us, **rest)

    monkeypatch.setattr(signals, "prove_commit", counted)
    return times


@pytest.fixture
def probed(api: Api) -> Iterator[TestClient]:
    health = Health(api.services)
    with TestClient(create_app(api.services, health=health)) as client:
        yield client
    health.close()


def test_readyz_asked_often_commits_once_a_second(
    api: Api, probed: TestClient, commits: list[int]
) -> None:
    told = [probed.get("/readyz") for _ in range(20)]
    assert {each.status_code for each in told} == {503}  # nobody decides here
    assert {each.text for each in told} == {told[0].text}
    assert len(commits) == 1
    api.clock.advance(READINESS_KEPT_US - 1)
    probed.get("/readyz")
    assert len(commits) == 1
    api.clock.advance(1)
    assert probed.get("/readyz").status_code == 503
    assert len(commits) == 2


def test_readyz_a_second_later_tells_what_changed(api: Api, probed: TestClient) -> None:
    assert probed.get("/readyz").json()["ready"] is False
    api.services.store.leases.heartbeat(
        "decider", now_us=api.now_us, ttl_us=60 * READINESS_KEPT_US, epsilon_us=0
    )
    api.clock.advance(READINESS_KEPT_US)
    assert probed.get("/readyz").json()["ready"] is True
