"""Applying manifest files in this process: what they make of a store, and what is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ports.records import TriggerDefinition
from punctual.local_apply import LocalApply, ManifestsRefused
from punctual.manifest_files import read_manifest_file, read_manifest_files
from scheduling.instants import from_text
from scheduling.vocabulary import (
    ChangeKind,
    FoldRule,
    GapRule,
    MissedPolicy,
    OverlapPolicy,
    OwnershipState,
    TriggerState,
)
from schemas.api.apply import PlanEntry
from tests.support.api import Api
from tests.support.definitions import SECRET
from tests.support.scripted_ownership import ScriptedOwnership

HEAD = """\
tenants:
  corp:
    targets: {shop: {url: "http://127.0.0.1:8089/hook"}}
    defaults: {zone: UTC, target: shop}
"""
PLAIN = (
    HEAD
    + """\
    triggers: {nightly: {schedule: "0 2 * * *"}}
"""
)
FULL = """\
tenants:
  corp:
    quota_triggers: 10
    smear_s: 3
    calendars: {works: {dates: [2026-12-28]}}
    targets: {shop: {url: "http://127.0.0.1:8089/hook", timeout_s: 20, secret_env: SHOP}}
    triggers:
      nightly:
        schedule: ["0 2 * * *", every 15m]
        zone: Europe/Berlin
        target: shop
        payload: {b: 1, a: 2}
        missed: fire_all
        overlap: buffer_one
        gap: skip
        fold: both
        starts_at: 2026-01-01T00:00:00Z
        ends_at: 2026-12-31T23:00:00Z
        exclude: [2026-12-25]
        calendars: [works]
        max_fires: 500
        horizon: 2d
        retry: {attempts: 3, window: 10m}
        run_timeout: 1h30m
        outcome_window: 2d
        response_is_outcome: true
"""


@pytest.fixture
def ownership() -> ScriptedOwnership:
    return ScriptedOwnership()


@pytest.fixture
def api(tmp_path: Path, ownership: ScriptedOwnership) -> Iterator[Api]:
    made = Api(tmp_path, ownership=ownership)
    yield made
    made.close()


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who applies: the last of the list."""
    names = ["ann"]
    monkeypatch.setattr("punctual.local_apply.local_principal", lambda: names[-1])
    return names


def apply(
    api: Api, *texts: str, allow_targets: bool = False, **environment: str
) -> list[PlanEntry]:
    files = [
        read_manifest_file(
            text.encode(), name=f"{number}.yaml", folder=None, environment=environment
        )
        for number, text in enumerate(texts)
    ]
    return LocalApply(api.services)(files, allow_targets=allow_targets)


def kinds(entries: list[PlanEntry]) -> set[ChangeKind]:
    return {entry.change for entry in entries}


def definition(api: Api, name: str = "nightly") -> TriggerDefinition:
    registry = api.services.store.registry
    (trigger,) = registry.find_triggers(name, tenant_id="corp")
    found = registry.definition("corp", trigger.trigger_id, version=trigger.version)
    assert found is not None
    return found


def state(api: Api) -> TriggerState:
    (trigger,) = api.services.store.registry.find_triggers("nightly", tenant_id="corp")
    return trigger.state


@pytest.mark.usefixtures("by")
def test_apply_fills_every_field_of_a_definition(api: Api) -> None:
    apply(api, FULL, SHOP=SECRET)
    registry = api.services.store.registry
    (target,) = registry.targets("corp")
    assert (target.timeout_s, registry.target_secret("corp", "shop")) == (20.0, SECRET)
    assert target.ownership is OwnershipState.LOCAL
    assert definition(api) == TriggerDefinition(
        recurrence=("0 2 * * *", "every 15m"),
        zone="Europe/Berlin",
        target_id="shop",
        has_payload=True,
        gap_rule=GapRule.SKIP,
        fold_rule=FoldRule.BOTH,
        starts_us=from_text("2026-01-01T00:00:00Z"),
        ends_us=from_text("2026-12-31T23:00:00Z"),
        exclusions=("2026-12-25",),
        calendars=("works",),
        max_fires=500,
        smear_s=3,
        missed_policy=MissedPolicy.FIRE_ALL,
        overlap_policy=OverlapPolicy.BUFFER_ONE,
        catchup_horizon_s=2 * 86_400,
        horizon_source="chosen by ann",
        attempt_budget=3,
        retry_window_s=600,
        run_timeout_s=5_400,
        outcome_window_s=2 * 86_400,
        response_is_outcome=True,
    )


@pytest.mark.parametrize("text", [PLAIN, FULL], ids=["plain", "full"])
def test_apply_again_by_another_changes_nothing(api: Api, by: list[str], text: str) -> None:
    assert kinds(apply(api, text, SHOP=SECRET)) == {ChangeKind.CREATED}
    by.append("bob")
    assert kinds(apply(api, text, SHOP=SECRET)) == {ChangeKind.UNCHANGED}


def test_apply_leaves_quotas_that_are_not_named_as_they_are(api: Api) -> None:
    apply(api, FULL, SHOP=SECRET)
    apply(api, PLAIN)
    (tenant,) = api.services.store.registry.tenants("corp")
    assert (tenant.quota_triggers, tenant.smear_s, tenant.quota_dispatch_per_s) == (10, 3, 100)


def test_apply_of_a_horizon_names_who_chose_the_new_one(api: Api, by: list[str]) -> None:
    apply(api, FULL, SHOP=SECRET)
    by.append("bob")
    apply(api, FULL.replace("horizon: 2d", "horizon: 1d"), SHOP=SECRET)
    found = definition(api)
    assert (found.catchup_horizon_s, found.horizon_source) == (86_400, "chosen by bob")


def test_apply_without_a_horizon_leaves_it_as_it_is(api: Api, by: list[str]) -> None:
    apply(api, FULL, SHOP=SECRET)
    by.append("bob")
    apply(api, FULL.replace("        horizon: 2d\n", ""), SHOP=SECRET)
    found = definition(api)
    assert (found.catchup_horizon_s, found.horizon_source) == (2 * 86_400, "chosen by ann")


def test_apply_without_a_payload_removes_it(api: Api) -> None:
    apply(api, FULL, SHOP=SECRET)
    apply(api, FULL.replace("        payload: {b: 1, a: 2}\n", ""), SHOP=SECRET)
    assert definition(api).has_payload is False


def test_apply_pauses_and_resumes_only_what_is_not_so_already(api: Api) -> None:
    paused = PLAIN.replace('* * *"}', '* * *", paused: true, pause_note: moving}')
    resumed = PLAIN.replace('* * *"}', '* * *", paused: false, resume: fire_all}')
    found = [
        (text, apply(api, text)[-1].change, state(api))
        for text in (PLAIN, resumed, paused, paused, PLAIN, resumed, resumed)
    ]
    live, stopped = TriggerState.LIVE, TriggerState.PAUSED
    assert found == [
        (PLAIN, ChangeKind.CREATED, live),
        (resumed, ChangeKind.UNCHANGED, live),
        (paused, ChangeKind.PAUSED, stopped),
        (paused, ChangeKind.UNCHANGED, stopped),
        (PLAIN, ChangeKind.UNCHANGED, stopped),
        (resumed, ChangeKind.RESUMED, live),
        (resumed, ChangeKind.UNCHANGED, live),
    ]


def test_apply_of_a_schedule_that_is_over_says_so(api: Api) -> None:
    entry = apply(api, PLAIN.replace('"0 2 * * *"', "at 2026-01-01T00:00"))[-1]
    assert entry.change is ChangeKind.CREATED
    assert entry.warning == "never due again: nothing lies ahead of it"


def test_apply_with_a_foreign_host_is_refused_with_what_to_serve_where(
    api: Api, ownership: ScriptedOwnership
) -> None:
    text = PLAIN.replace("http://127.0.0.1:8089/", "https://shop.corp.example/")
    with pytest.raises(ManifestsRefused) as refused:
        apply(api, text)
    told = str(refused.value)
    assert told.startswith("0.yaml:3:22: tenants.corp.targets.shop.url: nothing proves yet")
    assert "https://shop.corp.example/.well-known/punctual-ownership" in told
    assert "punctual-ownership-v1=" in told
    assert "--allow-targets" in told
    assert api.services.store.registry.tenants("corp") == []
    assert len(ownership.asked) == 1


@pytest.mark.parametrize("way", ["proven", "vouched"])
def test_apply_with_a_foreign_host_works_where_somebody_answers_for_it(
    api: Api, ownership: ScriptedOwnership, way: str
) -> None:
    text = PLAIN.replace("http://127.0.0.1:8089/", "https://shop.corp.example/")
    ownership.is_proven = way == "proven"
    entries = apply(api, text, allow_targets=way == "vouched")
    assert kinds(entries) == {ChangeKind.CREATED}
    (target,) = api.services.store.registry.targets("corp")
    expected = OwnershipState.PROVEN if way == "proven" else OwnershipState.ALLOWED
    assert target.ownership is expected
    assert kinds(apply(api, text)) == {ChangeKind.UNCHANGED}


def test_apply_with_a_secret_that_is_not_there_tells_the_other_problems_too(api: Api) -> None:
    with pytest.raises(ManifestsRefused) as refused:
        apply(api, FULL.replace("Europe/Berlin", "Europe/Berln"))
    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        "0.yaml:6:72: tenants.corp.targets.shop.secret_env: the variable SHOP is not set"
    )
    assert lines[1].startswith("0.yaml:10:9: tenants.corp.triggers.nightly.zone: ")
    assert lines[1].endswith("did you mean `Europe/Berlin`?")
    assert api.services.store.registry.tenants("corp") == []


def test_apply_of_several_files_takes_what_they_say_alike(api: Api) -> None:
    other = PLAIN.replace("nightly", "weekly")
    secret = other.replace('hook"}', f'hook", secret: {SECRET}}}')
    entries = apply(api, PLAIN, secret)
    assert [entry.name for entry in entries] == ["corp", "shop", "nightly", "weekly"]
    assert api.services.store.registry.target_secret("corp", "shop") == SECRET


def test_apply_of_several_files_that_contradict_each_other_is_refused(api: Api) -> None:
    other = PLAIN.replace("0 2 * * *", "0 3 * * *").replace("/hook", "/other")
    with pytest.raises(ManifestsRefused) as refused:
        apply(api, PLAIN, other)
    lines = str(refused.value).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["1.yaml:3:15", "tenants.corp.targets.shop"],
        ["1.yaml:5:16", "tenants.corp.triggers.nightly"],
    ]
    assert "0.yaml says otherwise" in lines[0]


def test_files_that_are_no_yaml_are_all_told(tmp_path: Path) -> None:
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in paths:
        path.write_text("tenants: {")
    with pytest.raises(ManifestsRefused) as refused:
        read_manifest_files(paths)
    lines = str(refused.value).splitlines()
    assert [line.split(":")[0] for line in lines] == [str(path) for path in paths]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("tenant: {}\n", "0.yaml:1:1: tenant: unknown key 'tenant'", id="other_root"),
        pytest.param("- a\n", "0.yaml:1:1: write a mapping of keys and values", id="list"),
        pytest.param("tenants:\n", "0.yaml:1:1: tenants: nothing stands here", id="empty"),
        pytest.param(
            "tenants: {corp: {target: {}}}\n",
            "0.yaml:1:18: tenants.corp.target: unknown key 'target'",
            id="unknown_key",
        ),
    ],
)
def test_file_of_another_shape_is_told_at_its_place(api: Api, text: str, expected: str) -> None:
    with pytest.raises(ManifestsRefused) as refused:
        apply(api, text)
    assert str(refused.value).startswith(expected)


@pytest.mark.usefixtures("by")
def test_apply_of_more_than_a_request_may_is_one_transaction_here(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("control_api.routes.apply.APPLY_CHANGES_MAX", 1)
    assert len(apply(api, FULL, SHOP=SECRET)) > 1
