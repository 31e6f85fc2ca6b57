"""The horizon that holds for a name: its trigger's, or what a new one starts with."""

import pytest

from ports.changes import ChangeKind, PutTrigger, SetHorizon
from ports.errors import ProblemKind
from ports.records import HeldHorizon
from scheduling.limits import HORIZON_S_DEFAULT
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import TENANT, a_definition

DEFAULT = HeldHorizon(HORIZON_S_DEFAULT, "default")
LOWERED = HeldHorizon(60, f"chosen by {ACTOR}")


def held(crank: HandCrank) -> HeldHorizon:
    return crank.store.registry.horizon(TENANT, "job")


def put(held_horizon_s: int | None, **changes: object) -> PutTrigger:
    definition = a_definition(**changes)
    return PutTrigger(
        tenant_id=TENANT, name="job", definition=definition, held_horizon_s=held_horizon_s
    )


def set_to(horizon_s: int | None) -> SetHorizon:
    return SetHorizon(tenant_id=TENANT, name="job", catchup_horizon_s=horizon_s)


def test_name_that_never_was_has_the_default(crank: HandCrank) -> None:
    assert held(crank) == DEFAULT


@pytest.mark.parametrize("horizon_s", [60, HORIZON_S_DEFAULT, 86_400])
def test_trigger_has_its_own(crank: HandCrank, horizon_s: int) -> None:
    crank.put()
    crank.apply(set_to(horizon_s))
    assert held(crank) == HeldHorizon(horizon_s, f"chosen by {ACTOR}")


@pytest.mark.parametrize(
    ("horizons_s", "left"),
    [
        ([60], LOWERED),
        ([86_400], DEFAULT),
        ([60, None], DEFAULT),
        ([None, 60], LOWERED),
        ([60, 86_400, 60, None, None, 60, 30], HeldHorizon(30, f"chosen by {ACTOR}")),
    ],
    ids=["lower", "higher", "lower_then_default", "default_then_lower", "many"],
)
def test_deleted_name_has_the_lower_of_the_last_and_the_default(
    crank: HandCrank, horizons_s: list[int | None], left: HeldHorizon
) -> None:
    """All within one instant: the order of the generations decides, no clock."""
    for horizon_s in horizons_s:
        crank.put()
        crank.apply(set_to(horizon_s))
        crank.delete()
    assert held(crank) == left


def test_other_tenants_name_is_another(crank: HandCrank) -> None:
    crank.put()
    crank.apply(set_to(60))
    assert crank.store.registry.horizon("another", "job") == DEFAULT


def test_put_that_rests_on_another_horizon_is_stale(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.apply(set_to(60))
    for _ in ("there", "deleted"):
        problem = refusal_of(crank, peek, put(HORIZON_S_DEFAULT, smear_s=7))
        assert (problem.kind, problem.field) == (ProblemKind.STALE, "horizon")
        crank.delete()
        crank.put(catchup_horizon_s=60)


def test_put_that_rests_on_what_holds_or_on_nothing_is_made(crank: HandCrank) -> None:
    assert crank.apply(put(HORIZON_S_DEFAULT))[0].kind is ChangeKind.CREATED
    crank.apply(set_to(60))
    assert crank.apply(put(60, smear_s=7))[0].kind is ChangeKind.EDITED
    assert crank.apply(put(None, smear_s=8))[0].kind is ChangeKind.EDITED
