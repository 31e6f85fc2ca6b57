"""From a manifest to changes: what they make of a store, and that equal files change nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.store_sqlite import open_sqlite_store
from control_api.manifests.apply import changes_of
from control_api.manifests.manifest import ManifestErrors, load_manifest
from ports.changes import Change, ChangeKind, PauseTrigger, PutTarget, PutTrigger, ResumeTrigger
from ports.records import TriggerDefinition
from ports.store import Store
from scheduling.instants import from_text
from scheduling.vocabulary import (
    FoldRule,
    GapRule,
    MissedPolicy,
    OverlapPolicy,
    ResumeRule,
    TriggerState,
)

NOW_US = from_text("2026-06-01T00:00:00Z")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HEAD = """\
tenants:
  acme:
    targets: {shop: {url: "https://shop.example/hook"}}
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
  acme:
    quota_triggers: 10
    smear_s: 3
    targets: {shop: {url: "https://shop.example/hook", timeout_s: 20, secret_env: SHOP}}
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
        max_fires: 500
        horizon: 2d
        retry: {attempts: 3, window: 10m}
        run_timeout: 1h30m
        outcome_window: 2d
        response_is_outcome: true
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = open_sqlite_store(
        tmp_path / "store.db", payload_keys=TinkPayloadKeys(tmp_path / "keys"), synchronous="OFF"
    )
    yield found
    found.close()


def changes(store: Store, text: str, *, actor: str = "ann", **environment: str) -> list[Change]:
    manifest = load_manifest(text, name="acme.yaml", now_us=NOW_US, allow_loopback=False)
    return changes_of(manifest, store.registry, actor=actor, environment=environment, folder=Path())


def apply(store: Store, text: str, *, actor: str = "ann", **environment: str) -> list[ChangeKind]:
    wanted = changes(store, text, actor=actor, **environment)
    return [each.kind for each in store.registry.apply(wanted, now_us=NOW_US, actor=actor)]


def test_changes_fill_every_field_of_a_definition(store: Store) -> None:
    _, target, trigger = changes(store, FULL, SHOP=SECRET)
    assert isinstance(target, PutTarget)
    assert (target.target.timeout_s, target.target.secret) == (20.0, SECRET)
    assert isinstance(trigger, PutTrigger)
    assert trigger.definition == TriggerDefinition(
        recurrence=("0 2 * * *", "every 15m"),
        zone="Europe/Berlin",
        target_id="shop",
        payload=b'{"a":2,"b":1}',
        gap_rule=GapRule.SKIP,
        fold_rule=FoldRule.BOTH,
        starts_us=from_text("2026-01-01T00:00:00Z"),
        ends_us=from_text("2026-12-31T23:00:00Z"),
        exclusions=("2026-12-25",),
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
def test_changes_applied_again_by_another_change_nothing(store: Store, text: str) -> None:
    assert set(apply(store, text, SHOP=SECRET)) == {ChangeKind.CREATED}
    assert set(apply(store, text, actor="bob", SHOP=SECRET)) == {ChangeKind.UNCHANGED}


def test_changes_leave_quotas_that_are_not_named_as_they_are(store: Store) -> None:
    apply(store, FULL, SHOP=SECRET)
    apply(store, PLAIN)
    (tenant,) = store.registry.tenants()
    assert (tenant.quota_triggers, tenant.smear_s, tenant.quota_dispatch_per_s) == (10, 3, 100)


def test_changes_of_a_horizon_name_who_chose_the_new_one(store: Store) -> None:
    apply(store, FULL, SHOP=SECRET)
    apply(store, FULL.replace("horizon: 2d", "horizon: 1d"), actor="bob", SHOP=SECRET)
    (trigger,) = store.registry.triggers(limit=2)
    found = store.registry.definition("acme", trigger.trigger_id, version=trigger.version)
    assert found is not None
    assert (found.catchup_horizon_s, found.horizon_source) == (86_400, "chosen by bob")


def test_changes_pause_and_resume_only_what_is_not_so_already(store: Store) -> None:
    paused = PLAIN.replace('* * *"}', '* * *", paused: true, pause_note: moving}')
    resumed = PLAIN.replace('* * *"}', '* * *", paused: false, resume: fire_all}')
    assert changes(store, paused)[3:] == [
        PauseTrigger(tenant_id="acme", name="nightly", note="moving")
    ]
    assert changes(store, resumed)[3:] == []
    apply(store, paused)
    assert store.registry.triggers(limit=1)[0].state is TriggerState.PAUSED
    assert changes(store, paused)[3:] == []
    assert changes(store, PLAIN)[3:] == []
    assert changes(store, resumed)[3:] == [
        ResumeTrigger(tenant_id="acme", name="nightly", rule=ResumeRule.FIRE_ALL)
    ]
    apply(store, resumed)
    assert store.registry.triggers(limit=1)[0].state is TriggerState.LIVE


def test_changes_with_a_secret_that_is_not_there_are_refused_with_its_line(store: Store) -> None:
    with pytest.raises(ManifestErrors) as refused:
        changes(store, FULL)
    assert str(refused.value) == (
        "acme.yaml:5: tenants.acme.targets.shop: secret_env: the variable SHOP is not set"
    )
