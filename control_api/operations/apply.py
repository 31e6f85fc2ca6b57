"""Apply: make the store as manifests say, whole or not at all, and tell what that does.

The plan of a dry run is what the production transaction would have done: it is rolled back.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from control_api.call import Call
from control_api.manifests.bounds import check_bounds, check_changes
from control_api.manifests.entries import (
    entries_of,
    next_before,
    other_payloads,
    replayed_entries,
)
from control_api.manifests.hosts import Hosts
from control_api.manifests.items import Item, Phase, Plan
from control_api.manifests.reading import Wishes, prefixed, read_manifests, refusal
from control_api.manifests.selection import Selection
from control_api.manifests.tenant_draft import TenantDraft
from control_api.problems import ApiProblem, FieldProblem, of_refusal
from control_api.replies import Reply
from ports.changes import ChangeResult
from ports.errors import ChangeProblem, ChangeRefused, ProblemKind
from ports.principals import GrantKind
from scheduling.limits import APPLY_TRIES_MAX
from schemas.api.apply import ApplyIn, ApplyOut
from schemas.manifest_fields import name_problem

_OF_THE_CALL: Final = frozenset({ProblemKind.UNCERTAIN, ProblemKind.KEY_REUSED})
_KEYS: Final = {
    "recurrence": "schedule",
    "catchup_horizon_s": "horizon",
    "exclusions": "exclude",
    "endpoint": "url",
}
_TOLD: Final = frozenset({"zone", "target", "calendars", "rules", "dates", "payload"})


class _Done(NamedTuple):
    """A plan as it went, some deletions perhaps spared, and the result of each of its changes."""

    plan: Plan
    results: Sequence[ChangeResult]


def apply_manifests(call: Call, body: ApplyIn, *, changes_max: int | None) -> Reply[ApplyOut]:
    """Everything in one transaction. `author` for each tenant; more where more is changed.

    ApiProblem with the problems at their paths. 409 when `plan` is of another state of things; 422
    when it has more than `changes_max` changes, where there is a bound.
    """
    selection = Selection(body.only)
    _require_authors(call, body, selection)
    if changes_max is not None:
        check_bounds(body.manifests, selection, changes_max=changes_max)
    wishes = read_manifests(
        body.manifests,
        now_us=call.now_us(),
        allow_loopback=call.services.settings.allow_loopback,
        takes=selection.takes,
    )
    repeat = None if body.dry_run else _repeat_of(call, wishes, body)
    if repeat is not None:
        return repeat
    hosts = Hosts(call, allow=body.allow_targets)
    for left in reversed(range(APPLY_TRIES_MAX)):
        plan = _plan_of(call, wishes, hosts, selection=selection, prune=body.prune)
        if changes_max is not None:
            check_changes(len(plan.changes), changes_max)
        if body.plan not in (None, plan.fingerprint):
            # Its first time may have come in between, and outdated its own plan.
            repeat = _repeat_of(call, wishes, body)
            if repeat is None:
                raise _outdated()
            return repeat
        try:
            return _carried_out(call, wishes, plan, body=body)
        except ChangeRefused as refused:
            # What else is refused beside it may rest on the same old facts: look once more.
            if ProblemKind.STALE not in {each.kind for each in refused.details}:
                raise _at_paths(refused, plan, wishes) from refused
            if not left:
                raise _outdated() from refused
    raise AssertionError("the last try returns or raises")


def _require_authors(call: Call, body: ApplyIn, selection: Selection) -> None:
    """Before anything is read for the caller; what is no name is left to the reader."""
    for manifest in body.manifests:
        names = manifest.tenants if isinstance(manifest.tenants, dict) else ()
        for name in names:
            if name_problem(name) is None and selection.takes_some(name):
                call.require(GrantKind.AUTHOR, name, act="apply a manifest")


def _plan_of(
    call: Call, wishes: Wishes, hosts: Hosts, *, selection: Selection, prune: bool
) -> Plan:
    drafts = [
        TenantDraft(call, tenant_id, spec, selection=selection, prune=prune)
        for tenant_id, spec in wishes.tenants.items()
        if selection.takes_some(tenant_id)
    ]
    hosts.ask(each for draft in drafts for each in draft.wanted_targets.values())
    unproven = [problem for draft in drafts for problem in draft.unproven(hosts)]
    if unproven:
        told = [FieldProblem(_field(wishes, each.field), each.detail) for each in unproven]
        raise refusal(told, status=409)
    items = tuple(item for draft in drafts for item in draft.items(hosts))
    plan = Plan(items, tuple(held for draft in drafts for held in draft.held()))
    selection.check_used()
    return plan


def _carried_out(call: Call, wishes: Wishes, plan: Plan, *, body: ApplyIn) -> Reply[ApplyOut]:
    before, payloads = next_before(call, plan), other_payloads(call, plan)
    now_us = call.now_us()
    done = _transacted(call, plan, dry_run=body.dry_run)
    if done.results and done.results[0].replayed:
        return _replayed(wishes, body, done.results)
    entries = entries_of(
        done.plan,
        done.results[: len(done.plan.ordered)],
        before=before,
        payloads=payloads,
        now_us=now_us,
    )
    return Reply(body=ApplyOut(dry_run=body.dry_run, plan=plan.fingerprint, entries=entries))


def _transacted(call: Call, plan: Plan, *, dry_run: bool) -> _Done:
    """What is pruned and still in use, as by an attempt under way, is spared."""
    while True:
        try:
            return _Done(plan, call.apply(*plan.changes, dry_run=dry_run))
        except ChangeRefused as refused:
            spared = _spared(plan, refused)
            if not spared:
                raise
            warnings = [f"not deleted yet: {text}" for text in spared.values()]
            plan = plan.sparing(list(spared), warnings)


def _spared(plan: Plan, refused: ChangeRefused) -> dict[int, str]:
    """The items that cannot be deleted now, and why; none where anything else is refused."""
    spared: dict[int, str] = {}
    for problem in refused.details:
        if problem.kind is not ProblemKind.CONFLICT or problem.change >= len(plan.ordered):
            return {}
        item, step = plan.ordered[problem.change]
        if step.phase is not Phase.REST_GOES:
            return {}
        spared[item] = problem.text
    return spared


def _at_paths(refused: ChangeRefused, plan: Plan, wishes: Wishes) -> ApiProblem:
    """The store's problems, each at the path of what it is about."""
    details = []
    for problem in refused.details:
        if problem.kind not in _OF_THE_CALL and problem.change < len(plan.ordered):
            item = plan.items[plan.ordered[problem.change].item]
            problem = problem._replace(field=_field(wishes, _path(item, problem)))
        details.append(problem)
    return of_refusal(ChangeRefused(tuple(details)))


def _path(item: Item, problem: ChangeProblem) -> str:
    key = _KEYS.get(problem.field, problem.field)
    is_key = key in _TOLD or problem.field in _KEYS
    return f"{item.subject.path}.{key}" if is_key else item.subject.path


def _field(wishes: Wishes, path: str) -> str:
    """A key is of the manifest that its subject is of."""
    if path in wishes.sources:
        return wishes.field(path)
    name = wishes.sources.get(path.rpartition(".")[0])
    return path if name is None else prefixed(name, path)


def _outdated() -> ApiProblem:
    detail = (
        "plan: what it rests on has changed since it was made: make a new one, look at it, and "
        "apply that"
    )
    return ApiProblem(409, "plan_outdated", detail, fields=[FieldProblem("plan", detail)])


def _repeat_of(call: Call, wishes: Wishes, body: ApplyIn) -> Reply[ApplyOut] | None:
    """The answer to a repeated request; what was planned for it may be of no use by now."""
    results = call.earlier()
    return _replayed(wishes, body, results) if results else None


def _replayed(wishes: Wishes, body: ApplyIn, results: Sequence[ChangeResult]) -> Reply[ApplyOut]:
    """What was changed the first time, without its fields; no plan but the one that was sent."""
    entries = replayed_entries(wishes.tenants, results)
    answer = ApplyOut(dry_run=False, plan=body.plan or "", entries=entries)
    return Reply(body=answer, replayed=True)
