"""apply, expected revisions: an If-Match that does not hold is refused as stale."""

from collections.abc import Callable

import pytest

from ports.changes import (
    Change,
    ChangeKind,
    DeleteTarget,
    DeleteTrigger,
    PauseTrigger,
    PutCalendar,
    PutTarget,
    PutTenant,
    PutTrigger,
    ResumeTrigger,
    SetHorizon,
)
from ports.errors import ChangeRefused, ProblemKind
from scheduling.vocabulary import OwnershipState
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TARGET, TENANT, a_definition, a_target, a_tenant

Make = Callable[[int | None], Change]


def _put_tenant(expected: int | None) -> Change:
    return PutTenant(tenant=a_tenant(smear_s=7), expected_revision=expected)


def _put_target(expected: int | None) -> Change:
    return PutTarget(
        target=a_target(timeout_s=3.0),
        ownership=OwnershipState.ALLOWED,
        expected_revision=expected,
    )


def _delete_target(expected: int | None) -> Change:
    return DeleteTarget(tenant_id=TENANT, target_id=TARGET, expected_revision=expected)


def _put_trigger(expected: int | None) -> Change:
    return PutTrigger(
        tenant_id=TENANT,
        name="job",
        definition=a_definition(smear_s=9),
        expected_revision=expected,
    )


def _set_horizon(expected: int | None) -> Change:
    return SetHorizon(
        tenant_id=TENANT, name="job", catchup_horizon_s=60, expected_revision=expected
    )


def _pause(expected: int | None) -> Change:
    return PauseTrigger(tenant_id=TENANT, name="job", expected_revision=expected)


def _resume(expected: int | None) -> Change:
    return ResumeTrigger(tenant_id=TENANT, name="job", expected_revision=expected)


def _delete(expected: int | None) -> Change:
    return DeleteTrigger(tenant_id=TENANT, name="job", expected_revision=expected)


OF_TRIGGERS = [
    pytest.param(_put_trigger, id="put_trigger"),
    pytest.param(_set_horizon, id="set_horizon"),
    pytest.param(_pause, id="pause"),
    pytest.param(_resume, id="resume"),
    pytest.param(_delete, id="delete"),
]
OF_OTHERS = [
    pytest.param(_put_tenant, id="put_tenant"),
    pytest.param(_put_target, id="put_target"),
    pytest.param(_delete_target, id="delete_target"),
]


@pytest.mark.parametrize("make", OF_TRIGGERS + OF_OTHERS)
@pytest.mark.parametrize("expected", [0, 2, -1])
def test_another_revision_than_the_expected_is_refused_as_stale(
    crank: HandCrank, peek: StorePeek, make: Make, expected: int
) -> None:
    if make is not _delete_target:
        crank.put()
    problem = refusal_of(crank, peek, make(expected))
    assert (problem.kind, problem.field) == (ProblemKind.STALE, "revision")
    assert "revision 1" in problem.text


@pytest.mark.parametrize("make", OF_TRIGGERS)
def test_change_of_the_expected_revision_makes_the_next(crank: HandCrank, make: Make) -> None:
    crank.put()
    if make is _resume:
        crank.pause()
    revision = crank.trigger().revision
    (result,) = crank.apply(make(revision))
    assert result.revision == revision + 1


@pytest.mark.parametrize("make", OF_OTHERS[:2])
def test_change_of_a_tenant_or_target_makes_its_next_revision(crank: HandCrank, make: Make) -> None:
    (result,) = crank.apply(make(1))
    assert (result.kind, result.revision) == (ChangeKind.EDITED, 2)
    (again,) = crank.apply(make(2))
    assert (again.kind, again.revision) == (ChangeKind.UNCHANGED, 2)


@pytest.mark.parametrize(
    "make", [pytest.param(_put_trigger, id="trigger"), pytest.param(_put_target, id="target")]
)
def test_replacement_of_what_does_not_exist_is_stale(
    crank: HandCrank, peek: StorePeek, make: Make
) -> None:
    crank.apply(DeleteTarget(tenant_id=TENANT, target_id=TARGET))
    problem = refusal_of(crank, peek, make(4))
    assert problem.kind is ProblemKind.STALE
    assert "does not exist; expected was revision 4" in problem.text


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(PutTenant(tenant=a_tenant("new"), must_exist=True), id="tenant"),
        pytest.param(PutTarget(target=a_target(target_id="new"), must_exist=True), id="target"),
        pytest.param(
            PutTrigger(tenant_id=TENANT, name="new", definition=a_definition(), must_exist=True),
            id="trigger",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id="new", must_exist=True), id="calendar"
        ),
    ],
)
def test_replacement_of_whatever_is_there_makes_nothing(
    crank: HandCrank, peek: StorePeek, change: Change
) -> None:
    problem = refusal_of(crank, peek, change)
    assert problem.kind is ProblemKind.STALE
    assert "nothing to replace" in problem.text


def test_creation_that_expects_nothing_creates(crank: HandCrank) -> None:
    results = crank.apply(
        PutTenant(tenant=a_tenant("new"), expected_revision=0),
        PutTarget(target=a_target("new"), expected_revision=0),
        _put_trigger(0),
    )
    assert [result.kind for result in results] == [ChangeKind.CREATED] * 3
    assert [result.revision for result in results] == [1, 1, 1]


def test_revisions_are_listed(crank: HandCrank) -> None:
    crank.apply(_put_tenant(1), _put_target(1))
    assert [tenant.revision for tenant in crank.store.registry.tenants()] == [2]
    assert [target.revision for target in crank.store.registry.targets()] == [2]


def test_problems_name_their_change_their_kind_and_their_field(crank: HandCrank) -> None:
    crank.begin(quota_triggers=0)
    with pytest.raises(ChangeRefused) as caught:
        crank.apply(
            PutTenant(tenant=a_tenant("fine")),
            PutTrigger(tenant_id=TENANT, name="a", definition=a_definition(zone="Mars/Olympus")),
            PutTrigger(tenant_id=TENANT, name="b", definition=a_definition(target_id="nowhere")),
            PutTrigger(tenant_id=TENANT, name="c", definition=a_definition()),
            PutTrigger(
                tenant_id=TENANT,
                name="",
                definition=a_definition(recurrence=("61 * * * *",), payload=b"x" * 70_000),
            ),
            PauseTrigger(tenant_id=TENANT, name="d", note="x" * 501),
            PauseTrigger(tenant_id=TENANT, name="d"),
            PutTarget(target=a_target("nobody")),
            PutTarget(target=a_target(endpoint="nonsense")),
        )
    assert [(problem.change, problem.kind, problem.field) for problem in caught.value.details] == [
        (1, ProblemKind.INVALID, "zone"),
        (2, ProblemKind.INVALID, "target"),
        (3, ProblemKind.QUOTA, "quota_triggers"),
        (4, ProblemKind.INVALID, "name"),
        (4, ProblemKind.INVALID, "payload"),
        (4, ProblemKind.INVALID, "recurrence"),
        (5, ProblemKind.INVALID, "note"),
        (6, ProblemKind.NOT_FOUND, "name"),
        (7, ProblemKind.NOT_FOUND, "tenant"),
        (8, ProblemKind.INVALID, "endpoint"),
    ]
