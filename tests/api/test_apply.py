"""POST manifests: planned, then made true in one transaction, or not at all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ports.changes import AllowHost, PutTarget
from ports.principals import GrantKind
from ports.records import TargetRecord
from scheduling.limits import APPLY_HOSTS_ASKED_MAX
from scheduling.vocabulary import MissedPolicy, TriggerState
from tests.support.api import HOOK, OTHER, TENANT, Api, problem
from tests.support.definitions import SECRET, a_trigger
from tests.support.ladder import WriteLadder
from tests.support.scripted_ownership import ScriptedOwnership

FOREIGN = "https://hooks.foreign.example/in"


@pytest.fixture
def ownership() -> ScriptedOwnership:
    return ScriptedOwnership()


@pytest.fixture
def api(tmp_path: Path, ownership: ScriptedOwnership) -> Iterator[Api]:
    made = Api(tmp_path, ownership=ownership)
    yield made
    made.close()


def trigger(**changes: Any) -> dict[str, Any]:
    keys = {"schedule": "0 2 * * *", "zone": "UTC", "target": "hook"} | changes
    return {key: value for key, value in keys.items() if value is not None}


def tenant(*names: str, **changes: Any) -> dict[str, Any]:
    """A tenant with one target on this machine, and triggers of these names."""
    return {
        "targets": {"hook": {"url": HOOK}},
        "triggers": {name: trigger() for name in names},
    } | changes


def manifest(*names: str, **changes: Any) -> dict[str, Any]:
    return {"tenants": {TENANT: tenant(*names, **changes)}}


def body(*manifests: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"manifests": list(manifests), **options}


def applied(api: Api, *manifests: dict[str, Any], by: str = "root", **options: Any) -> Any:
    return api.json("POST", "/v1/apply", body(*manifests, **options), by=by)


def refused(api: Api, *manifests: dict[str, Any], by: str = "root", **options: Any) -> Any:
    answer = api.call("POST", "/v1/apply", body(*manifests, **options), by=by)
    assert not answer.is_success, answer.text
    return answer


def entry(plan: Any, kind: str, name: str) -> Any:
    (found,) = [each for each in plan["entries"] if (each["kind"], each["name"]) == (kind, name)]
    return found


def changes(plan: Any) -> list[tuple[str, str, str]]:
    """What changes at all."""
    return [
        (each["change"], each["kind"], each["name"])
        for each in plan["entries"]
        if each["change"] != "unchanged"
    ]


def fields(entry: Any) -> dict[str, tuple[Any, Any]]:
    return {each["field"]: (each["before"], each["after"]) for each in entry["fields"]}


def names(api: Api, tenant_id: str = TENANT) -> list[str]:
    return [each.name for each in api.services.store.registry.triggers(tenant_id, limit=2_000)]


class TestApply(WriteLadder):
    method = "POST"
    path = "/v1/apply"
    body: ClassVar[dict[str, Any]] = body(manifest("nightly"))
    kind = GrantKind.AUTHOR
    required = ("manifests",)
    other: ClassVar[dict[str, Any]] = {"prune": True}
    action = "trigger_created"
    revised = "/v1/tenants/{tenant}/triggers/nightly"
    event = "TriggerChanged"
    stale = None

    def test_repeated_key_has_one_effect(self, api: Api) -> None:
        """A repeat tells the changes alone: what was before them is not kept."""
        first = self.call(api, headers={"Idempotency-Key": "once"})
        again = self.call(api, headers={"Idempotency-Key": "once"})
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.headers["idempotent-replayed"] == "true"
        assert changes(again.json()) == changes(first.json())
        assert len(api.audit(self.action)) == 1


def test_apply_tells_what_a_new_trigger_will_do(api: Api) -> None:
    plan = applied(api, manifest(triggers={"nightly": trigger(payload={"a": 1}, missed="skip")}))
    created = entry(plan, "trigger", "nightly")
    assert created["change"] == "created"
    assert fields(created) == {
        "schedule": (None, ["0 2 * * *"]),
        "zone": (None, "UTC"),
        "target": (None, "hook"),
        "missed": (None, "skip"),
        "payload": (None, "given"),
    }
    assert (created["next_before"], created["next_after"]) == (
        [],
        [f"2026-03-0{day}T02:00:00Z" for day in (2, 3, 4)],
    )
    assert fields(entry(plan, "target", "hook")) == {"url": (None, HOOK)}
    assert entry(plan, "tenant", TENANT)["change"] == "unchanged"


def test_apply_of_an_edit_tells_each_field_and_the_instants_before_and_after(api: Api) -> None:
    applied(api, manifest(triggers={"nightly": trigger(payload=1)}))
    edit = trigger(payload=2, zone="Europe/Berlin", retry={"attempts": 2})
    plan = applied(api, manifest(triggers={"nightly": edit}))
    assert changes(plan) == [("edited", "trigger", "nightly")]
    edited = entry(plan, "trigger", "nightly")
    assert fields(edited) == {
        "zone": ("UTC", "Europe/Berlin"),
        "retry.attempts": (10, 2),
        "payload": (None, "changed"),
    }
    assert edited["next_before"] == [f"2026-03-0{day}T02:00:00Z" for day in (2, 3, 4)]
    assert edited["next_after"] == [f"2026-03-0{day}T01:00:00Z" for day in (2, 3, 4)]
    assert edited["zone"] == "Europe/Berlin"


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [(1, 1, False), (1, 2, True), (1, None, True), (None, 1, True), (None, None, False)],
)
def test_apply_tells_whether_the_payload_is_another_and_never_which(
    api: Api, before: int | None, after: int | None, is_told: bool
) -> None:
    applied(api, manifest(triggers={"nightly": trigger(payload=before)}))
    edit = trigger(payload=after, zone="Europe/Berlin")
    edited = entry(applied(api, manifest(triggers={"nightly": edit})), "trigger", "nightly")
    told = {"payload": (None, "changed")} if is_told else {}
    assert fields(edited) == {"zone": ("UTC", "Europe/Berlin"), **told}


def test_apply_of_another_payload_alone_is_an_edit_without_instants(api: Api) -> None:
    applied(api, manifest(triggers={"nightly": trigger(payload=1)}))
    plan = applied(api, manifest(triggers={"nightly": trigger(payload=2)}))
    edited = entry(plan, "trigger", "nightly")
    assert (edited["change"], fields(edited)) == ("edited", {"payload": (None, "changed")})
    assert (edited["next_before"], edited["next_after"]) == ([], [])


def test_apply_twice_changes_nothing_the_second_time(api: Api) -> None:
    whole = manifest(
        "nightly",
        calendars={"works": {"dates": ["2026-03-09"]}},
        triggers={"nightly": trigger(calendars=["works"], payload=[1], paused=True, horizon="2d")},
        quota_triggers=7,
    )
    assert len(changes(applied(api, whole))) == 4
    before = len(api.audit())
    plan = applied(api, whole, prune=True, only=["acme/nightly", "acme/hook", "acme/works"])
    assert changes(plan) == []
    assert len(plan["entries"]) == 3
    assert len(api.audit()) == before


def test_dry_run_tells_the_same_and_changes_nothing(api: Api) -> None:
    wanted = manifest("nightly", calendars={"works": {"dates": ["2026-03-09"]}})
    before, events = len(api.audit()), len(api.outbox())
    plan = applied(api, wanted, dry_run=True)
    assert (len(api.audit()), len(api.outbox()), names(api)) == (before, events, [])
    done = applied(api, wanted, plan=plan["plan"])
    assert done == plan | {"dry_run": False}


def test_apply_whose_tenth_trigger_is_wrong_changes_nothing_and_names_that_path(api: Api) -> None:
    triggers = {f"t{number}": trigger() for number in range(1, 11)}
    triggers["t10"] = trigger(zone="Europe/Berln")
    answer = refused(api, manifest(triggers=triggers))
    assert problem(answer) == (422, [f"tenants.{TENANT}.triggers.t10.zone"])
    assert "did you mean `Europe/Berlin`?" in answer.json()["detail"]
    assert names(api) == []


def test_apply_tells_every_problem_at_once(api: Api) -> None:
    wrong = manifest(
        targets={"hook": {"url": "http://10.0.0.1/"}},
        triggers={
            "one": trigger(schedule="61 * * * *"),
            "two": trigger(target="hoook", misssed="skip"),
            "Three": trigger(retry={"attempts": 21}),
        },
        quota_trigger=5,
    )
    assert problem(refused(api, wrong)) == (
        422,
        [
            f"tenants.{TENANT}.targets.hook.url",
            f"tenants.{TENANT}.triggers.one.schedule",
            f"tenants.{TENANT}.triggers.two.target",
            f"tenants.{TENANT}.triggers.two.misssed",
            f"tenants.{TENANT}.triggers.Three",
            f"tenants.{TENANT}.triggers.Three.retry.attempts",
            f"tenants.{TENANT}.quota_trigger",
        ],
    )


@pytest.mark.parametrize("tenants", [None, [], "x", 7], ids=["null", "list", "text", "number"])
def test_apply_of_what_is_no_tree_is_422(api: Api, tenants: Any) -> None:
    assert problem(refused(api, {"tenants": tenants})) == (422, ["tenants"])


@pytest.mark.parametrize(
    "name", ["\ud800", "a\x1b[31m", "x" * 100_000], ids=["half", "ctrl", "long"]
)
def test_apply_of_a_name_that_cannot_be_shown_is_422(api: Api, name: str) -> None:
    trees = [
        {name: {}},
        {TENANT: {"triggers": {name: trigger(zone=name, target=name)}}},
        {TENANT: {name: 1}},
    ]
    for tree in trees:
        answer = api.client.post(
            "/v1/apply",
            content=json.dumps(body({"tenants": tree})),  # halves of characters too
            headers={
                "Authorization": f"Bearer {api.tokens['root']}",
                "Content-Type": "application/json",
            },
        )
        assert answer.status_code == 422, answer.text
        assert all(field.isprintable() and len(field) < 500 for field in problem(answer)[1])


def test_apply_names_the_manifest_where_there_are_several(api: Api) -> None:
    good = {"name": "good.yaml", **manifest("nightly")}
    bad = {"name": "bad.yaml", **manifest(triggers={"weekly": trigger(zone="Mars/Olympus")})}
    path = f"bad.yaml:tenants.{TENANT}.triggers.weekly.zone"
    assert problem(refused(api, good, bad)) == (422, [path])
    assert problem(refused(api, good, good)) == (422, ["manifests.1.name"])


def test_apply_of_several_manifests_is_one_transaction(api: Api) -> None:
    one = {"name": "one", **manifest("nightly", quota_triggers=1)}
    two = {"name": "two", **manifest("weekly")}
    answer = refused(api, one, two)
    assert problem(answer) == (409, [f"two:tenants.{TENANT}.triggers.weekly"])
    assert "raise the quota" in answer.json()["detail"]
    assert names(api) == []
    applied(api, one | manifest("nightly"), two)
    assert names(api) == ["nightly", "weekly"]


def test_apply_of_a_secret_from_elsewhere_is_refused(api: Api) -> None:
    for key in ("secret_env", "secret_file"):
        targets = {"hook": {"url": HOOK, key: "HOME"}}
        answer = refused(api, manifest("nightly", targets=targets))
        assert problem(answer) == (422, [f"tenants.{TENANT}.targets.hook.{key}"])


def test_apply_tells_that_a_secret_is_another_and_never_which(api: Api) -> None:
    applied(api, manifest(targets={"hook": {"url": HOOK, "secret": SECRET}}))
    other = SECRET[:-4] + "b3Nl"
    answer = api.call(
        "POST", "/v1/apply", body(manifest(targets={"hook": {"url": HOOK, "secret": other}}))
    )
    edited = entry(answer.json(), "target", "hook")
    assert (edited["change"], fields(edited)) == ("edited", {"secret": (None, "changed")})
    assert "whsec_" not in answer.text
    kept = applied(api, manifest(targets={"hook": {"url": HOOK}}))
    assert changes(kept) == []


# -- prune ------------------------------------------------------------------------------------


def test_prune_deletes_what_the_manifests_do_not_name_and_no_tenant(api: Api) -> None:
    api.apply(a_trigger("elsewhere"), a_trigger("gone"))
    applied(api, manifest("nightly", "weekly", calendars={"works": {}}))
    assert names(api) == ["elsewhere", "gone", "nightly", "weekly"]
    plan = applied(api, manifest("nightly"), prune=True)
    assert changes(plan) == [
        ("deleted", "trigger", "elsewhere"),
        ("deleted", "trigger", "gone"),
        ("deleted", "trigger", "weekly"),
        ("deleted", "target", "shop"),
        ("deleted", "calendar", "works"),
    ]
    gone = entry(plan, "trigger", "gone")
    assert len(gone["next_before"]) == 3
    assert gone["next_after"] == []
    assert names(api) == ["nightly"]
    assert [each.tenant_id for each in api.services.store.registry.tenants()] == [TENANT, OTHER]


def test_prune_of_a_name_makes_room_within_the_quota(api: Api) -> None:
    applied(api, manifest("one", quota_triggers=1))
    applied(api, manifest("two"), prune=True)
    assert names(api) == ["two"]


def test_prune_tells_what_it_stops(api: Api) -> None:
    api.apply(a_trigger("minutely", missed_policy=MissedPolicy.FIRE_ALL))
    api.clock.advance(150_000_000)
    plan = applied(api, manifest(), prune=True)
    gone = entry(plan, "trigger", "minutely")
    assert (gone["settled_rows"], gone["stopped_fires"]) == (2, 2)


def test_prune_spares_a_target_that_something_else_still_uses(api: Api) -> None:
    applied(api, manifest("nightly", "weekly"))
    other = manifest(targets={"new": {"url": HOOK}}, triggers={"nightly": trigger(target="new")})
    plan = applied(api, other, prune=True, only=["acme/nightly", "acme/hook"])
    spared = entry(plan, "target", "hook")
    assert spared["change"] == "unchanged"
    assert spared["warning"].startswith("not deleted yet: target: acme/hook is used by")
    assert changes(plan) == [("created", "target", "new"), ("edited", "trigger", "nightly")]


# -- only -------------------------------------------------------------------------------------


def test_only_leaves_everything_else_untouched(api: Api) -> None:
    applied(api, manifest("nightly-a", "nightly-b", "weekly"))
    wanted = manifest(
        quota_triggers=5,
        targets={"hook": {"url": HOOK, "timeout_s": 30}},
        triggers={name: trigger(zone="Europe/Berlin") for name in ("nightly-a", "weekly", "new")},
    )
    plan = applied(api, wanted, only=["acme/nightly-*"], prune=True)
    assert changes(plan) == [
        ("edited", "trigger", "nightly-a"),
        ("deleted", "trigger", "nightly-b"),
    ]
    assert names(api) == ["nightly-a", "weekly"]
    (target, *_) = api.services.store.registry.targets(TENANT)
    assert target.timeout_s == 10.0


def test_only_brings_along_what_a_new_trigger_needs(api: Api) -> None:
    wanted = manifest(
        calendars={"works": {}, "other": {}},
        triggers={"one": trigger(calendars=["works"]), "two": trigger(calendars=["other"])},
    )
    plan = applied(api, wanted, only=["*/one"])
    assert [each[2] for each in changes(plan)] == ["works", "hook", "one"]


@pytest.mark.parametrize("selector", ["nightly", "/nightly", "acme/", "acme/weekly", "bolt/*"])
def test_only_with_a_slip_is_refused(api: Api, selector: str) -> None:
    assert problem(refused(api, manifest("nightly"), only=[selector])) == (422, ["only"])
    assert names(api) == []


# -- the plan's fingerprint -------------------------------------------------------------------


def test_plan_of_another_state_is_409_and_changes_nothing(api: Api) -> None:
    applied(api, manifest("nightly"))
    wanted = manifest(triggers={"nightly": trigger(zone="Europe/Berlin")})
    plan = applied(api, wanted, dry_run=True)["plan"]
    api.json("POST", f"/v1/tenants/{TENANT}/triggers/nightly:pause", {})
    answer = refused(api, wanted, plan=plan)
    assert problem(answer) == (409, ["plan"])
    assert answer.json()["type"] == "urn:punctual:problem:plan_outdated"
    again = applied(api, wanted, dry_run=True)["plan"]
    assert changes(applied(api, wanted, plan=again)) == [("edited", "trigger", "nightly")]


def test_plan_to_prune_does_not_delete_what_came_after_it(api: Api) -> None:
    plan = applied(api, manifest("nightly"), prune=True, dry_run=True)["plan"]
    api.apply(a_trigger("newcomer"))
    answer = refused(api, manifest("nightly"), prune=True, plan=plan)
    assert problem(answer) == (409, ["plan"])
    assert names(api) == ["newcomer"]


def test_plan_holds_while_time_passes_and_nothing_else_happens(api: Api) -> None:
    plan = applied(api, manifest("nightly"), dry_run=True)["plan"]
    api.clock.advance(5_000_000)
    assert names(api) == []
    applied(api, manifest("nightly"), plan=plan)
    assert names(api) == ["nightly"]


def test_plan_repeated_with_its_key_is_answered_as_before(api: Api) -> None:
    plan = applied(api, manifest("nightly"), dry_run=True)["plan"]
    once = {"Idempotency-Key": "once"}
    for _ in range(2):
        answer = api.call("POST", "/v1/apply", body(manifest("nightly"), plan=plan), headers=once)
        assert answer.status_code == 200, answer.text
        assert changes(answer.json()) == [
            ("created", "target", "hook"),
            ("created", "trigger", "nightly"),
        ]


# -- grants -----------------------------------------------------------------------------------


def test_apply_of_two_tenants_needs_author_on_both(api: Api) -> None:
    both = {"tenants": {TENANT: tenant("nightly"), OTHER: tenant("nightly")}}
    api.principal("half", GrantKind.AUTHOR, tenant=TENANT)
    assert refused(api, both, by="half").status_code == 404
    api.principal("reader", GrantKind.AUTHOR, tenant=TENANT)
    api.principal("reader", GrantKind.READ, tenant=OTHER)
    assert problem(refused(api, both, by="reader")) == (403, ["grant"])
    assert names(api) == []
    applied(api, both, by="half", only=[f"{TENANT}/*"])
    assert (names(api), names(api, OTHER)) == (["nightly"], [])


@pytest.mark.parametrize(
    ("change", "kind", "is_of_platform"),
    [
        pytest.param({"quota_triggers": 5}, GrantKind.POLICY, False, id="quota"),
        pytest.param(
            {"triggers": {"n": trigger(horizon="2h")}}, GrantKind.POLICY, False, id="horizon"
        ),
        pytest.param({"smear_s": 5}, GrantKind.OPERATOR, True, id="smear"),
    ],
)
def test_apply_of_more_needs_the_grant_for_it(
    api: Api, change: dict[str, Any], kind: GrantKind, is_of_platform: bool
) -> None:
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    answer = refused(api, manifest(**change), by="author")
    assert problem(answer) == (403, ["grant"])
    assert kind in answer.json()["detail"]
    api.principal("author", kind, tenant=None if is_of_platform else TENANT)
    applied(api, manifest(**change), by="author")


def test_apply_of_a_shorter_horizon_or_the_same_quota_needs_no_policy(api: Api) -> None:
    wanted = manifest(triggers={"n": trigger(horizon="2h")}, quota_triggers=5)
    applied(api, wanted)
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    shorter = manifest(triggers={"n": trigger(horizon="90m")}, quota_triggers=5)
    assert fields(entry(applied(api, shorter, by="author"), "trigger", "n")) == {
        "horizon": ("2h", "90m")
    }


def test_apply_without_a_horizon_leaves_what_policy_chose(api: Api) -> None:
    applied(api, manifest(triggers={"n": trigger(horizon="2h")}))
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    plan = applied(api, manifest(triggers={"n": trigger(zone="Europe/Berlin")}), by="author")
    assert list(fields(entry(plan, "trigger", "n"))) == ["zone"]
    found = api.json("GET", f"/v1/tenants/{TENANT}/triggers/n")
    assert (found["definition"]["horizon"], found["horizon_source"]) == ("2h", "chosen by root")


def test_apply_of_a_new_tenant_needs_an_operator(api: Api) -> None:
    new = {"tenants": {"corp": tenant("nightly")}}
    api.principal("author", GrantKind.AUTHOR)
    assert problem(refused(api, new, by="author")) == (403, ["grant"])
    api.principal("author", GrantKind.OPERATOR)
    assert [each[:2] for each in changes(applied(api, new, by="author"))] == [
        ("created", "tenant"),
        ("created", "target"),
        ("created", "trigger"),
    ]


# -- owners of hosts --------------------------------------------------------------------------


def foreign(*names: str, url: str = FOREIGN) -> dict[str, Any]:
    return manifest(*names, targets={"hook": {"url": url}})


def test_apply_to_an_unproven_host_is_409_and_says_what_to_serve_where(api: Api) -> None:
    answer = refused(api, foreign("nightly", "weekly"))
    assert problem(answer) == (409, [f"tenants.{TENANT}.targets.hook.url"])
    detail = answer.json()["detail"]
    assert "https://hooks.foreign.example/.well-known/punctual-ownership" in detail
    assert "punctual-ownership-v1=" in detail
    assert names(api) == []


def test_apply_of_an_unproven_target_that_no_trigger_uses_warns(api: Api) -> None:
    plan = applied(api, foreign())
    target = entry(plan, "target", "hook")
    assert target["change"] == "created"
    assert "punctual-ownership-v1=" in target["warning"]
    found = api.json("GET", f"/v1/tenants/{TENANT}/targets/hook")
    assert found["ownership"]["state"] == "pending"
    assert found["ownership"]["detail"].startswith("the host answered 404")


def test_apply_asks_each_host_once_and_keeps_its_proof(
    api: Api, ownership: ScriptedOwnership
) -> None:
    ownership.is_proven = True
    targets = {"hook": {"url": FOREIGN}, "two": {"url": f"{FOREIGN}/two"}}
    wanted = manifest("nightly", targets=targets)
    applied(api, wanted)
    applied(api, wanted)
    assert len(ownership.asked) == 1
    found = api.json("GET", f"/v1/tenants/{TENANT}/targets/two")
    assert found["ownership"]["state"] == "proven"


def test_apply_once_a_host_is_proven_lets_its_waiting_triggers_in(
    api: Api, ownership: ScriptedOwnership
) -> None:
    applied(api, foreign())
    ownership.is_proven = True
    plan = applied(api, foreign("nightly"))
    assert fields(entry(plan, "target", "hook")) == {"ownership": ("pending", "proven")}
    assert names(api) == ["nightly"]


def test_allow_targets_vouches_for_hosts_in_the_same_transaction(
    api: Api, ownership: ScriptedOwnership
) -> None:
    api.principal("author", GrantKind.AUTHOR, tenant=TENANT)
    assert problem(refused(api, foreign("n"), by="author", allow_targets=True)) == (403, ["grant"])
    plan = applied(api, foreign("n"), allow_targets=True)
    assert fields(entry(plan, "target", "hook"))["allowed_host"] == (None, "hooks.foreign.example")
    assert [each.host for each in api.services.store.registry.allowed_hosts()] == [
        "hooks.foreign.example"
    ]
    assert ownership.asked == []
    # The host is allowed by now, so that an author may go on.
    assert changes(applied(api, foreign("n"), by="author", allow_targets=True)) == []


def test_allow_targets_that_fails_allows_nothing(api: Api) -> None:
    wrong = foreign("nightly", "weekly")
    wrong["tenants"][TENANT]["quota_triggers"] = 1
    refused(api, wrong, allow_targets=True)
    assert api.services.store.registry.allowed_hosts() == []


def test_allow_targets_of_a_pending_target_is_one_edit(
    api: Api, ownership: ScriptedOwnership
) -> None:
    applied(api, foreign())
    plan = applied(api, foreign("nightly"), allow_targets=True)
    assert changes(plan) == [("edited", "target", "hook"), ("created", "trigger", "nightly")]


def test_apply_that_moves_a_used_target_to_an_unproven_host_is_409(
    api: Api, ownership: ScriptedOwnership
) -> None:
    applied(api, manifest("nightly"))
    assert problem(refused(api, foreign("nightly"))) == (
        409,
        [f"tenants.{TENANT}.targets.hook.url"],
    )
    # Its user is not in the file: the store knows of it.
    assert problem(refused(api, foreign())) == (409, [f"tenants.{TENANT}.targets.hook.url"])


def test_apply_leaves_an_unusable_target_of_old_as_it_is(
    api: Api, ownership: ScriptedOwnership
) -> None:
    api.apply(AllowHost(tenant_id=TENANT, host="hooks.foreign.example"))
    applied(api, foreign("nightly"))
    api.json("DELETE", "/v1/allowed-hosts/hooks.foreign.example", tenant=TENANT)
    edit = foreign()
    edit["tenants"][TENANT]["triggers"] = {"nightly": trigger(zone="Europe/Berlin")}
    assert changes(applied(api, edit)) == [("edited", "trigger", "nightly")]
    assert ownership.asked == []


def test_apply_with_too_many_hosts_to_ask_is_422(api: Api, ownership: ScriptedOwnership) -> None:
    targets = {
        f"t{number}": {"url": f"https://h{number}.foreign.example/"}
        for number in range(APPLY_HOSTS_ASKED_MAX + 1)
    }
    answer = refused(api, manifest(targets=targets))
    assert problem(answer) == (422, [f"tenants.{TENANT}.targets.t{APPLY_HOSTS_ASKED_MAX}.url"])
    assert ownership.asked == []


# -- calendars, standing, the end -------------------------------------------------------------


def test_apply_of_an_edited_calendar_moves_its_triggers(api: Api) -> None:
    def wanted(*dates: str) -> dict[str, Any]:
        works = {"works": {"dates": list(dates)}}
        return manifest(calendars=works, triggers={"n": trigger(calendars=["works"])})

    applied(api, wanted())
    plan = applied(api, wanted("2026-03-03"))
    assert changes(plan) == [("edited", "calendar", "works"), ("edited", "trigger", "n")]
    assert fields(entry(plan, "calendar", "works")) == {"dates": ([], ["2026-03-03"])}
    moved = entry(plan, "trigger", "n")
    assert fields(moved) == {"calendars.works": (1, 2)}
    assert moved["next_before"] == [f"2026-03-0{day}T02:00:00Z" for day in (2, 3, 4)]
    assert moved["next_after"] == [f"2026-03-0{day}T02:00:00Z" for day in (2, 4, 5)]
    assert changes(applied(api, wanted("2026-03-03"))) == []


def test_apply_of_a_new_paused_trigger_never_makes_it_due(api: Api) -> None:
    plan = applied(api, manifest(triggers={"n": trigger(paused=True, pause_note="later")}))
    created = entry(plan, "trigger", "n")
    assert created["change"] == "created"
    assert fields(created)["paused"] == (False, True)
    assert fields(created)["pause_note"] == (None, "later")
    assert (created["next_after"], created["warning"]) == ([], None)
    (found,) = api.services.store.registry.find_triggers("n")
    assert (found.state, found.pause_note) == (TriggerState.PAUSED, "later")


def test_apply_pauses_and_resumes_and_tells_what_is_next(api: Api) -> None:
    applied(api, manifest("n"))
    plan = applied(api, manifest(triggers={"n": trigger(paused=True)}))
    paused = entry(plan, "trigger", "n")
    assert (paused["change"], len(paused["next_before"]), paused["next_after"]) == ("paused", 3, [])
    assert changes(applied(api, manifest("n"))) == []
    plan = applied(api, manifest(triggers={"n": trigger(paused=False)}))
    resumed = entry(plan, "trigger", "n")
    assert (resumed["change"], resumed["next_before"]) == ("resumed", [])
    assert len(resumed["next_after"]) == 3


def test_apply_of_a_schedule_that_is_over_warns_each_time(api: Api) -> None:
    once = manifest(triggers={"n": trigger(schedule="at 2020-01-01T00:00")})
    for change in ("created", "unchanged"):
        told = entry(applied(api, once), "trigger", "n")
        assert told["change"] == change
        assert told["warning"] == "never due again: nothing lies ahead of it"


def test_apply_of_a_thousand_triggers_is_one_transaction(api: Api) -> None:
    many = manifest(*(f"t{number:04}" for number in range(1_000)))
    plan = applied(api, many)
    assert len(changes(plan)) == 1_001
    assert len(names(api)) == 1_000
    assert changes(applied(api, many)) == []
    pruned = applied(api, manifest(), prune=True)
    assert len(changes(pruned)) == 1_001  # the builders' target is not named either


def test_apply_reports_the_store_s_own_refusal_at_its_path(api: Api) -> None:
    api.apply(
        PutTarget(
            target=TargetRecord(
                tenant_id=TENANT, target_id="hook", endpoint=FOREIGN, timeout_s=10.0
            )
        )
    )
    wanted = manifest(triggers={"n": trigger()}, targets={"hook": {"url": FOREIGN}})
    # The target exists, unproven and unselected: the store judges what uses it.
    answer = refused(api, wanted, only=["acme/n"])
    assert problem(answer) == (409, [f"tenants.{TENANT}.triggers.n.target"])


@pytest.mark.parametrize("dry_run", [False, True])
def test_apply_of_too_many_changes_is_422_and_counts_them(
    api: Api, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    monkeypatch.setattr("control_api.routes.apply.APPLY_CHANGES_MAX", 4)
    answer = refused(api, manifest("one", "two", "three"), dry_run=dry_run)
    assert problem(answer) == (422, ["manifests"])
    assert answer.json()["detail"] == (
        "manifests: they make 5 changes, and one transaction takes at most 4: apply them in "
        "parts, with `only` (--only) or from smaller files"
    )
    assert not api.services.store.registry.triggers(TENANT, limit=10)
    applied(api, manifest("one", "two", "three"), only=[f"{TENANT}/t*"], dry_run=dry_run)


def test_apply_calls_a_payload_and_a_secret_of_what_is_new_given(api: Api) -> None:
    made = tenant("nightly")
    made["targets"]["hook"]["secret"] = SECRET
    made["triggers"]["nightly"]["payload"] = {"a": 1}
    plan = applied(api, {"tenants": {TENANT: made}}, dry_run=True)
    assert fields(entry(plan, "trigger", "nightly"))["payload"] == (None, "given")
    assert fields(entry(plan, "target", "hook"))["secret"] == (None, "given")
