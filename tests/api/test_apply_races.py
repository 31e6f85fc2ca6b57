"""Two clients: what an apply commits is what its plan said, or it is refused: plan again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from control_api.manifests.hosts import Hosts
from ports.principals import GrantKind
from tests.support.api import HOOK, TENANT, Api, problem
from tests.support.scripted_ownership import ScriptedOwnership

HERE: Final = f"/v1/tenants/{TENANT}"
FRONT: Final = "https://hooks.foreign.example/in"
OWN: Final = {"schedule": "0 2 * * *", "zone": "UTC", "target": "hook", "calendars": ["works"]}
ANY: Final = {"If-Match": "*"}


@dataclass(slots=True)
class Rival:
    """Another client, who acts once, where the first one's request has read what it plans on."""

    act: Callable[[], Any] | None = None
    answers: list[Any] = field(default_factory=list)

    def turn(self) -> None:
        act, self.act = self.act, None
        if act is not None:
            self.answers.append(act())


@pytest.fixture
def rival(monkeypatch: pytest.MonkeyPatch) -> Rival:
    """Its turn comes with the question whose hosts the targets are: between plan and commit."""
    found, ask = Rival(), Hosts.ask

    def asked(hosts: Hosts, wanted: Any) -> None:
        found.turn()
        ask(hosts, wanted)

    monkeypatch.setattr(Hosts, "ask", asked)
    return found


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(tmp_path, ownership=ScriptedOwnership())
    made.principal("ann", GrantKind.AUTHOR, tenant=TENANT)
    _applied(made, manifest(dates=["2026-12-24"]))
    yield made
    made.close()


def manifest(dates: list[str], **changes: Any) -> dict[str, Any]:
    tenant = {
        "targets": {"hook": {"url": HOOK}},
        "calendars": {"works": {"dates": dates}},
        "triggers": {"nightly": OWN},
    }
    return {"tenants": {TENANT: tenant | changes}}


def _sent(api: Api, wanted: dict[str, Any], **options: Any) -> Any:
    by = options.pop("by", "root")
    return api.call("POST", "/v1/apply", {"manifests": [wanted], **options}, by=by)


def _applied(api: Api, wanted: dict[str, Any], **options: Any) -> Any:
    answer = _sent(api, wanted, **options)
    assert answer.is_success, answer.text
    return answer.json()


def _definition(api: Api, name: str = "nightly") -> Any:
    return api.json("GET", f"{HERE}/triggers/{name}")["definition"]


def edit_calendar(api: Api) -> Any:
    return api.call("PUT", f"{HERE}/calendars/works", {"dates": ["2026-03-03"]}, headers=ANY)


def set_horizon(api: Api) -> Any:
    return api.call("PUT", f"{HERE}/triggers/nightly/horizon", {"horizon": "2d"})


def edit_trigger(api: Api) -> Any:
    return api.call("PUT", f"{HERE}/triggers/nightly", OWN | {"missed": "skip"}, headers=ANY)


def set_smear(api: Api) -> Any:
    return api.call("PUT", HERE, {"smear_s": 60}, headers=ANY)


ACTS: Final = [edit_calendar, set_horizon, edit_trigger]
OTHER_DATES: Final = manifest(dates=["2026-12-25"])
OTHER_ZONE: Final = manifest(
    dates=["2026-12-25"], triggers={"nightly": OWN | {"zone": "Europe/Berlin"}}
)
NEW: Final = manifest(dates=["2026-12-24"], triggers={"new": OWN, "nightly": OWN})


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("wanted", [OTHER_DATES, OTHER_ZONE], ids=["dates", "zone"])
def test_plan_is_refused_once_another_client_changed_what_it_rests_on(
    api: Api, wanted: dict[str, Any], act: Callable[[Api], Any]
) -> None:
    plan = _applied(api, wanted, dry_run=True)["plan"]
    assert act(api).is_success
    there = _definition(api)
    refused = _sent(api, wanted, plan=plan)
    assert problem(refused) == (409, ["plan"])
    assert "make a new one" in refused.json()["detail"]
    assert _definition(api) == there


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("wanted", [OTHER_DATES, OTHER_ZONE], ids=["dates", "zone"])
def test_plan_is_refused_though_another_client_is_between_it_and_its_commit(
    api: Api, rival: Rival, wanted: dict[str, Any], act: Callable[[Api], Any]
) -> None:
    """A trigger that follows an edited calendar gets a revision from that, and no other one."""
    plan = _applied(api, wanted, dry_run=True)["plan"]
    rival.act = lambda: act(api)
    refused = _sent(api, wanted, plan=plan)
    assert [each.is_success for each in rival.answers] == [True]
    assert problem(refused) == (409, ["plan"])
    if act is set_horizon:
        assert _definition(api)["horizon"] == "2d"


def test_apply_without_a_plan_keeps_the_horizon_that_came_in_between(
    api: Api, rival: Rival
) -> None:
    """It plans again by itself: nobody has looked at the first plan."""
    rival.act = lambda: set_horizon(api)
    answer = _applied(api, OTHER_ZONE, by="ann")
    told = [each["change"] for each in answer["entries"] if each["name"] == "nightly"]
    assert told == ["edited"]
    found = _definition(api)
    assert (found["horizon"], found["zone"]) == ("2d", "Europe/Berlin")


def test_apply_that_meets_an_edit_and_a_use_in_one_commit_plans_again(
    api: Api, rival: Rival
) -> None:
    """Beside the old revision the store refuses a deletion; both rest on the first plan."""
    _applied(
        api, manifest(dates=["2026-12-24"], targets={"hook": {"url": HOOK}, "old": {"url": HOOK}})
    )

    def edit_and_use() -> Any:
        assert edit_trigger(api).is_success
        using = OWN | {"target": "old"}
        return api.call("PUT", f"{HERE}/triggers/user", using)

    rival.act = edit_and_use
    answer = _applied(api, OTHER_ZONE, prune=True, only=["*/nightly", "*/old"])
    assert [each.is_success for each in rival.answers] == [True]
    told = {each["name"]: each["change"] for each in answer["entries"]}
    assert told["nightly"] == "edited"
    assert _definition(api)["zone"] == "Europe/Berlin"
    assert api.call("GET", f"{HERE}/targets/old").status_code == 200


@pytest.mark.parametrize("act", [edit_calendar, set_smear])
def test_plan_of_a_selection_rests_on_what_its_triggers_use(
    api: Api, act: Callable[[Api], Any]
) -> None:
    """The calendar and the tenant are not selected, and yet the plan shows what they make."""
    plan = _applied(api, NEW, dry_run=True, only=["*/new"])
    shown = next(each for each in plan["entries"] if each["name"] == "new")
    assert shown["next_after"][0] == "2026-03-02T02:00:00Z"
    assert act(api).is_success
    assert problem(_sent(api, NEW, only=["*/new"], plan=plan["plan"])) == (409, ["plan"])
    assert api.call("GET", f"{HERE}/triggers/new").status_code == 404


@pytest.mark.parametrize("act", [edit_calendar, set_smear])
def test_plan_of_a_selection_is_held_until_its_commit(
    api: Api, rival: Rival, act: Callable[[Api], Any]
) -> None:
    plan = _applied(api, NEW, dry_run=True, only=["*/new"])["plan"]
    rival.act = lambda: act(api)
    assert problem(_sent(api, NEW, only=["*/new"], plan=plan)) == (409, ["plan"])
    assert [each.is_success for each in rival.answers] == [True]


def test_what_is_held_for_a_selection_is_neither_told_nor_changed(api: Api) -> None:
    before = len(api.audit())
    plan = _applied(api, NEW, only=["*/new"])
    assert [(each["kind"], each["name"]) for each in plan["entries"]] == [("trigger", "new")]
    assert [each.action for each in api.audit()[before:]] == ["trigger_created"]


def test_target_that_is_edited_before_its_host_is_allowed_is_not_overwritten(
    api: Api, rival: Rival
) -> None:
    """Allowing its host makes a new revision of the target, and only that one is expected."""
    front = {"front": {"url": FRONT}, "hook": {"url": HOOK}}
    _applied(api, manifest(dates=["2026-12-24"], targets=front))
    slower = {"front": {"url": FRONT, "timeout_s": 20}, "hook": {"url": HOOK}}
    wanted = manifest(dates=["2026-12-24"], targets=slower)
    plan = _applied(api, wanted, dry_run=True, allow_targets=True)["plan"]
    body = {"url": FRONT, "timeout_s": 30}
    rival.act = lambda: api.call("PUT", f"{HERE}/targets/front", body, headers=ANY)
    refused = _sent(api, wanted, plan=plan, allow_targets=True)
    assert [each.is_success for each in rival.answers] == [True]
    assert problem(refused) == (409, ["plan"])
    assert api.json("GET", f"{HERE}/targets/front")["timeout_s"] == 30
