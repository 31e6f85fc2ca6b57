"""apply: all changes or none, in their order, every problem named; a dry run leaves no trace."""

import pytest

from ports.changes import (
    Change,
    ChangeKind,
    DeleteTrigger,
    PauseTrigger,
    PutTenant,
    PutTrigger,
    ResumeTrigger,
)
from ports.errors import ChangeRefused
from ports.store import Store
from scheduling.limits import NOTE_CHARS_MAX, PAYLOAD_BYTES_MAX
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import (
    START_US,
    TENANT,
    a_definition,
    a_tenant,
    at,
    put_target,
)


def _put(name: str = "job", **changes: object) -> PutTrigger:
    return PutTrigger(tenant_id=TENANT, name=name, definition=a_definition(**changes))


EVERYTHING: list[Change] = [
    PutTenant(tenant=a_tenant("other")),
    put_target("other"),
    _put("new", payload=b"sealed"),
    _put(recurrence=("*/2 * * * *",)),
    PauseTrigger(tenant_id=TENANT, name="job"),
    ResumeTrigger(tenant_id=TENANT, name="job"),
    DeleteTrigger(tenant_id=TENANT, name="job"),
]


def test_apply_of_nothing_changes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    before = peek.content()
    assert crank.apply() == []
    assert peek.content() == before


def test_apply_of_many_changes_gives_a_result_each_in_order(crank: HandCrank) -> None:
    crank.put()
    results = crank.apply(*EVERYTHING)
    assert [result.kind for result in results] == [
        ChangeKind.CREATED,
        ChangeKind.CREATED,
        ChangeKind.CREATED,
        ChangeKind.EDITED,
        ChangeKind.PAUSED,
        ChangeKind.RESUMED,
        ChangeKind.DELETED,
    ]
    assert [result.revision for result in results[3:]] == [2, 3, 4, 5]


def test_dry_run_tells_the_same_and_leaves_no_trace(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    crank.to(130)
    before = peek.content()
    told = crank.apply(*EVERYTHING, dry_run=True)
    assert peek.content() == before
    assert crank.apply(*EVERYTHING) == told


def test_one_refused_change_refuses_all_of_them(crank: HandCrank, peek: StorePeek) -> None:
    crank.put()
    before = peek.content()
    with pytest.raises(ChangeRefused):
        crank.apply(*EVERYTHING[:3], PauseTrigger(tenant_id=TENANT, name="missing"))
    assert peek.content() == before


def test_refusal_names_every_problem_of_every_change(crank: HandCrank) -> None:
    with pytest.raises(ChangeRefused) as caught:
        crank.apply(
            _put("a", recurrence=("61 * * * *",), target_id="nowhere"),
            _put("b"),
            _put("c", zone="Mars/Olympus"),
            PauseTrigger(tenant_id=TENANT, name="missing"),
        )
    problems = caught.value.problems
    assert len(problems) == 4
    assert [problem.split(":")[0] for problem in problems] == [
        "acme/a",
        "acme/a",
        "acme/c",
        "trigger",
    ]
    for part, problem in zip(("minute", "nowhere", "zone", "missing"), problems, strict=True):
        assert part in problem


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param(put_target("nobody"), "tenant", id="target_without_tenant"),
        pytest.param(
            PutTrigger(tenant_id="nobody", name="job", definition=a_definition()),
            "tenant",
            id="trigger_without_tenant",
        ),
        pytest.param(_put(target_id="nowhere"), "target", id="trigger_without_target"),
        pytest.param(_put(""), "name", id="empty_name"),
        pytest.param(_put("n" * 129), "name", id="long_name"),
        pytest.param(_put(recurrence=("* * *",)), "expression", id="bad_recurrence"),
        pytest.param(_put(recurrence=("0 0 30 2 *",)), "day_of_month", id="never_due"),
        pytest.param(_put(zone="Europe/Nowhere"), "zone", id="unknown_zone"),
        pytest.param(
            _put(payload=b"x" * (PAYLOAD_BYTES_MAX + 1)), "payload", id="payload_too_large"
        ),
        pytest.param(PauseTrigger(tenant_id=TENANT, name="no"), "trigger", id="pause_missing"),
        pytest.param(ResumeTrigger(tenant_id=TENANT, name="no"), "trigger", id="resume_missing"),
        pytest.param(DeleteTrigger(tenant_id=TENANT, name="no"), "trigger", id="delete_missing"),
        pytest.param(
            PauseTrigger(tenant_id=TENANT, name="job", note="x" * (NOTE_CHARS_MAX + 1)),
            "note",
            id="long_note",
        ),
    ],
)
def test_refused_change_names_its_field(
    crank: HandCrank, peek: StorePeek, change: Change, part: str
) -> None:
    crank.put("job")
    before = peek.content()
    with pytest.raises(ChangeRefused) as caught:
        crank.apply(change)
    assert part in str(caught.value)
    assert peek.content() == before


def test_quota_refuses_the_trigger_beyond_it_and_says_how_many(crank: HandCrank) -> None:
    crank.begin(quota_triggers=2)
    crank.put("one")
    crank.put("two")
    with pytest.raises(
        ChangeRefused, match=r"quota_triggers: acme may have 2 triggers and this is one more"
    ):
        crank.put("three")
    crank.put("two", smear_s=1)
    crank.delete("one")
    assert crank.put("three").kind is ChangeKind.CREATED


def test_quota_counts_within_one_call(crank: HandCrank, peek: StorePeek) -> None:
    crank.begin(quota_triggers=2)
    before = peek.content()
    with pytest.raises(ChangeRefused, match="quota_triggers"):
        crank.apply(_put("one"), _put("two"), _put("three"))
    assert peek.content() == before


def test_quota_raised_in_the_same_call_counts(crank: HandCrank) -> None:
    crank.begin(quota_triggers=1)
    results = crank.apply(_put("one"), PutTenant(tenant=a_tenant(quota_triggers=2)), _put("two"))
    assert [result.kind for result in results] == ["created", "edited", "created"]


def test_change_is_told_to_other_handles_at_once(crank: HandCrank, store: Store) -> None:
    version = store.data_version()
    store.registry.apply([_put()], now_us=START_US, actor=ACTOR)
    assert store.data_version() != version
    assert [trigger.name for trigger in store.registry.triggers(limit=10)] == ["job"]


@pytest.mark.parametrize(
    ("is_edit", "due_s"),
    [pytest.param(False, 60.0, id="create"), pytest.param(True, 120.0, id="edit")],
)
@pytest.mark.parametrize("how", ["refused", "dry_run"])
def test_definition_that_was_taken_back_is_forgotten(
    crank: HandCrank, how: str, is_edit: bool, due_s: float
) -> None:
    # The next one has the same id and the same number, and another rule.
    if is_edit:
        crank.put(recurrence=("0 1 * * *",))
    taken_back = _put(recurrence=("0 3 * * *",))
    if how == "dry_run":
        crank.apply(taken_back, dry_run=True)
    else:
        with pytest.raises(ChangeRefused):
            crank.apply(taken_back, _put("bad", target_id="nowhere"))
    every = "*/2 * * * *" if is_edit else "* * * * *"
    (result,) = crank.apply(_put(recurrence=(every,)))
    assert result.next_due_us == at(due_s)
    version = crank.trigger().version
    stored = crank.store.registry.definition(TENANT, crank.ids["job"], version=version)
    assert stored is not None
    assert stored.recurrence == (every,)
    crank.to(due_s)
    assert [message.key for message in crank.commit().ready] == [crank.key(due_s)]
