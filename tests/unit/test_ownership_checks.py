"""The thread that looks for proofs to be renewed: it asks, goes on after faults, and ends."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ports.changes import PutTarget
from ports.ownership import OwnershipAnswer, OwnershipPort
from ports.records import TargetRecord
from punctual.ownership_checks import ACTOR, OwnershipChecks
from scheduling.instants import SECOND_US
from scheduling.limits import OWNERSHIP_LAPSES_AFTER_S, OWNERSHIP_RECHECK_AFTER_S
from scheduling.vocabulary import OwnershipState
from tests.support.api import TENANT, Api

WAIT_S = 30


@dataclass(slots=True)
class Host(OwnershipPort):
    """Answers as the test says, and signals when it was asked so often."""

    is_proven: bool = True
    faults: int = 0
    asked: int = 0
    is_asked: threading.Event = field(default_factory=threading.Event)

    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        self.asked += 1
        if self.asked <= self.faults:
            raise RuntimeError("a fault of the program")
        self.is_asked.set()
        return OwnershipAnswer(self.is_proven, "as the test says")


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def api(tmp_path: Path, host: Host) -> Iterator[Api]:
    """A target that was proven at the start."""
    made = Api(tmp_path, ownership=host)
    made.apply(
        PutTarget(
            target=TargetRecord(
                tenant_id=TENANT,
                target_id="proven",
                endpoint="https://hooks.example/in",
                timeout_s=10.0,
            ),
            ownership=OwnershipState.PROVEN,
        )
    )
    yield made
    made.close()


def proven(api: Api) -> TargetRecord:
    return next(
        each for each in api.services.store.registry.targets(TENANT) if each.target_id == "proven"
    )


def test_checks_renew_a_proof_that_is_old(api: Api, host: Host) -> None:
    api.clock.advance(OWNERSHIP_RECHECK_AFTER_S * SECOND_US)
    with OwnershipChecks(api.services):
        assert host.is_asked.wait(WAIT_S)
    assert proven(api).verified_us == api.now_us


def test_checks_let_a_target_lapse_whose_host_proves_nothing_any_more(api: Api, host: Host) -> None:
    host.is_proven = False
    api.clock.advance(OWNERSHIP_LAPSES_AFTER_S * SECOND_US)
    with OwnershipChecks(api.services):
        assert host.is_asked.wait(WAIT_S)
    assert proven(api).ownership is OwnershipState.LAPSED
    assert [entry.actor for entry in api.audit("target_ownership")] == [ACTOR]


def test_checks_leave_a_new_proof_alone(api: Api, host: Host) -> None:
    checks = OwnershipChecks(api.services)
    with checks:
        pass
    assert host.asked == 0


@pytest.mark.expects_error_log
def test_checks_go_on_after_a_fault(api: Api, host: Host) -> None:
    host.faults = 2
    api.clock.advance(OWNERSHIP_RECHECK_AFTER_S * SECOND_US)
    with OwnershipChecks(api.services, every_s=0.0):
        assert host.is_asked.wait(WAIT_S)
    assert proven(api).verified_us == api.now_us
