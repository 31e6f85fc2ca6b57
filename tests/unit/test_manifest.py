"""The manifest: what a good one becomes, and every way in which a bad one is told so."""

import json
import pickle
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import punctual
from control_api.manifests import yaml_tree
from control_api.manifests.problems import ManifestErrors
from control_api.manifests.text import to_yaml
from scheduling.instants import from_text
from scheduling.limits import MANIFEST_BYTES_MAX, PAYLOAD_BYTES_MAX
from scheduling.vocabulary import FoldRule, GapRule, MissedPolicy, OverlapPolicy, ResumeRule
from schemas.manifest import Manifest, TargetSpec, TenantSpec, TriggerSpec
from tests.support.manifests import load_manifest

NOW_US = from_text("2026-06-01T00:00:00Z")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

FULL = f"""\
tenants:
  acme:
    quota_triggers: 1000
    quota_dispatch_per_s: 50
    quota_inflight: 200
    catchup_rate_pct: 20
    smear_s: 3
    targets:
      billing: {{url: "http://127.0.0.1:8400/hook", timeout_s: 20, secret: {SECRET}}}
      mail: {{url: "https://example.com/mail", secret_env: MAIL_SECRET}}
    triggers:
      nightly-invoice:
        schedule: ["0 9 * * MON-FRI", every 15m]
        zone: Europe/Berlin
        target: billing
        payload: {{b: [1, 2.5, null, true], a: "ünï"}}
        missed: fire_all
        overlap: buffer_one
        gap: skip
        fold: both
        starts_at: 2026-01-01T00:00
        ends_at: 2026-12-31T22:59:59.5Z
        exclude: [2026-12-25, 2026-05-01]
        max_fires: 500
        smear_s: 0
        horizon: 2d
        retry: {{attempts: 3, window: 10m}}
        run_timeout: 1h30m
        outcome_window: 2d
        response_is_outcome: true
        paused: true
        pause_note: waiting for the new prices
        resume: fire_once_now
"""


def load(text: str | bytes, *, allow_loopback: bool = True) -> Manifest:
    return load_manifest(text, name="m.yaml", now_us=NOW_US, allow_loopback=allow_loopback)


def refusals(text: str | bytes, *, allow_loopback: bool = True) -> list[str]:
    """The lines of the error, without the file's name and the columns."""
    with pytest.raises(ManifestErrors) as caught:
        load(text, allow_loopback=allow_loopback)
    lines = str(caught.value).split("\n")
    return [re.sub(r"^m\.yaml:(?:(\d+):\d+:)?", r"\1:", line) for line in lines]


def with_trigger(*lines: str, target: str = 'url: "https://example.com/"') -> str:
    """A manifest of one trigger whose own keys begin on line 6."""
    keys = "".join(f"        {line}\n" for line in lines)
    return f"tenants:\n  acme:\n    targets: {{t: {{{target}}}}}\n    triggers:\n      one:\n{keys}"


GOOD = ('schedule: "0 9 * * *"', "zone: UTC", "target: t")


def test_full_trigger_loads_every_key_in_stored_units() -> None:
    tenant = load(FULL).tenants["acme"]
    trigger = tenant.triggers["nightly-invoice"]
    assert trigger.schedule == ("0 9 * * MON-FRI", "every 15m")
    assert trigger.zone == "Europe/Berlin"
    assert trigger.target == "billing"
    assert trigger.payload_json == '{"a":"ünï","b":[1,2.5,null,true]}'
    assert trigger.payload == {"a": "ünï", "b": [1, 2.5, None, True]}
    assert trigger.missed_policy is MissedPolicy.FIRE_ALL
    assert trigger.overlap_policy is OverlapPolicy.BUFFER_ONE
    assert trigger.gap_rule is GapRule.SKIP
    assert trigger.fold_rule is FoldRule.BOTH
    assert trigger.starts_at_us == from_text("2025-12-31T23:00:00Z")
    assert trigger.ends_at_us == from_text("2026-12-31T22:59:59.500000Z")
    assert trigger.excluded_on == (date(2026, 5, 1), date(2026, 12, 25))
    assert trigger.max_fires == 500
    assert trigger.smear_s == 0
    assert trigger.horizon_s == 172_800
    assert (trigger.retry.attempts, trigger.retry.window_s) == (3, 600)
    assert trigger.run_timeout_s == 5_400
    assert trigger.outcome_window_s == 172_800
    assert trigger.response_is_outcome is True
    assert (trigger.paused, trigger.pause_note) == (True, "waiting for the new prices")
    assert trigger.resume_rule is ResumeRule.FIRE_ONCE_NOW


def test_full_tenant_loads_quotas_and_targets() -> None:
    manifest = load(FULL)
    tenant = manifest.tenants["acme"]
    assert (tenant.quota_triggers, tenant.quota_dispatch_per_s) == (1000, 50)
    assert (tenant.quota_inflight, tenant.catchup_rate_pct, tenant.smear_s) == (200, 20, 3)
    assert tenant.targets["billing"].secret == SECRET
    assert tenant.targets["billing"].timeout_s == 20
    assert tenant.targets["mail"].secret_env == "MAIL_SECRET"


def test_minimal_trigger_takes_the_products_defaults() -> None:
    tenant = load(with_trigger(*GOOD)).tenants["acme"]
    trigger = tenant.triggers["one"]
    assert trigger.payload_json == "null"
    assert trigger.missed_policy is MissedPolicy.FIRE_ONCE_NOW
    assert trigger.overlap_policy is OverlapPolicy.ALLOW
    assert (trigger.gap_rule, trigger.fold_rule) == (GapRule.SHIFT_FORWARD, FoldRule.FIRST)
    assert trigger.horizon_s is None
    assert (trigger.retry.attempts, trigger.retry.window_s) == (10, 3_600)
    assert (trigger.run_timeout_s, trigger.outcome_window_s) == (3_600, 86_400)
    assert (trigger.smear_s, trigger.max_fires, trigger.paused) == (None, None, None)
    assert trigger.resume_rule is ResumeRule.DROP
    assert (tenant.quota_triggers, tenant.targets["t"].secret) == (None, None)
    assert tenant.targets["t"].timeout_s == 10


def test_defaults_fill_what_a_trigger_leaves_out() -> None:
    text = with_trigger('schedule: "@daily"', "missed: skip").replace(
        "    triggers:",
        "    defaults: {zone: Asia/Tokyo, target: t, missed: fire_all}\n    triggers:",
    )
    trigger = load(text).tenants["acme"].triggers["one"]
    assert (trigger.zone, trigger.target) == ("Asia/Tokyo", "t")
    assert trigger.missed_policy is MissedPolicy.SKIP


def test_local_start_in_a_skipped_hour_is_the_instant_after_it() -> None:
    # Berlin 2026-03-29: 02:00 CET -> 03:00 CEST at 01:00Z
    text = with_trigger(
        'schedule: "0 9 * * *"', "zone: Europe/Berlin", "target: t", "starts_at: 2026-03-29T02:30"
    )
    trigger = load(text).tenants["acme"].triggers["one"]
    assert trigger.starts_at_us == from_text("2026-03-29T01:00:00Z")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("run_timeout: 90s", 90, id="seconds"),
        pytest.param("run_timeout: 15m", 900, id="minutes"),
        pytest.param("run_timeout: 6h", 21_600, id="hours"),
        pytest.param("run_timeout: 2d", 172_800, id="days"),
        pytest.param("run_timeout: 1d2h3m4s", 93_784, id="all-units"),
    ],
)
def test_duration_with_unit_is_read_as_seconds(line: str, expected: int) -> None:
    trigger = load(with_trigger(*GOOD, line)).tenants["acme"].triggers["one"]
    assert trigger.run_timeout_s == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param("hello", '"hello"', id="text"),
        pytest.param('"no"', '"no"', id="quoted-no"),
        pytest.param("2026-12-24", '"2026-12-24"', id="date-stays-text"),
        pytest.param("2026-12-24T18:00:00Z", '"2026-12-24T18:00:00Z"', id="instant-stays-text"),
        pytest.param("{on: 1, no: 2}", '{"no":2,"on":1}', id="old-booleans-as-keys-are-words"),
        pytest.param("[true, ~, -1, 1.5]", "[true,null,-1,1.5]", id="json-types"),
        pytest.param("!!str 12", '"12"', id="explicit-text"),
        pytest.param("v1.2.3", '"v1.2.3"', id="version"),
        pytest.param("", "null", id="empty"),
    ],
)
def test_payload_scalar_becomes_the_json_it_looks_like(payload: str, expected: str) -> None:
    trigger = load(with_trigger(*GOOD, f"payload: {payload}")).tenants["acme"].triggers["one"]
    assert trigger.payload_json == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            ("zone: UTC", "target: t"),
            '5: tenants.acme.triggers.one.schedule: missing: say when, as in `schedule: "0 9 * * '
            'MON-FRI"`',
            id="schedule-missing",
        ),
        pytest.param(
            ("target: t", 'schedule: "0 9 * * *"'),
            "5: tenants.acme.triggers.one.zone: missing: name the time zone, as in `zone: "
            "Europe/Berlin` or `zone: UTC`; there is no default",
            id="zone-missing",
        ),
        pytest.param(
            (*GOOD, "missd: skip"),
            "9: tenants.acme.triggers.one.missd: unknown key 'missd': did you mean `missed`?",
            id="unknown-key-close",
        ),
        pytest.param(
            (*GOOD, "timezone: UTC"),
            "9: tenants.acme.triggers.one.timezone: unknown key 'timezone': did you mean `zone`?",
            id="unknown-key-of-another-product",
        ),
        pytest.param(
            (*GOOD, "retry: {attemts: 3}"),
            "9: tenants.acme.triggers.one.retry.attemts: unknown key 'attemts': did you mean "
            "`attempts`?",
            id="unknown-nested-key",
        ),
        pytest.param(
            (*GOOD, "missed: once"),
            "9: tenants.acme.triggers.one.missed: write fire_once_now, fire_all or skip",
            id="unknown-word",
        ),
        pytest.param(
            (*GOOD, "overlap: no"),
            "9: tenants.acme.triggers.one.overlap: reads as a boolean or as text: write true or "
            "false, or quote it",
            id="yaml-1.1-boolean",
        ),
        pytest.param(
            (*GOOD, "payload: {at: 12:30}"),
            "9: tenants.acme.triggers.one.payload.at: reads as a number in base 60 or a time: "
            "quote it, or write the number in plain decimals",
            id="sexagesimal",
        ),
        pytest.param(
            (*GOOD, "payload: [1, {a: [0777]}]"),
            "9: tenants.acme.triggers.one.payload.1.a.0: reads as an octal or a decimal number: "
            "quote it, or write the number in plain decimals",
            id="octal",
        ),
        pytest.param(
            (*GOOD, "payload: .nan"),
            "9: tenants.acme.triggers.one.payload: reads as a number that JSON cannot hold: quote "
            "it, or write the number in plain decimals",
            id="not-a-number",
        ),
        pytest.param(
            (*GOOD, "payload: 99999999999999999999"),
            "9: tenants.acme.triggers.one.payload: is an integer of more than 64 bits: quote it",
            id="integer-too-big",
        ),
        pytest.param(
            (*GOOD, "payload: {1: x}"),
            "9: tenants.acme.triggers.one.payload: the key '?' does not read as text: quote it",
            id="key-not-text",
        ),
        pytest.param(
            (*GOOD, "run_timeout: 60"),
            "9: tenants.acme.triggers.one.run_timeout: write a duration with its unit, as in 90s, "
            "15m, 6h, 2d or 1h30m",
            id="duration-without-unit",
        ),
        pytest.param(
            (*GOOD, "horizon: 8d"),
            "9: tenants.acme.triggers.one.horizon: at most 7d",
            id="horizon-too-long",
        ),
        pytest.param(
            (*GOOD, "retry: {attempts: 21}"),
            "9: tenants.acme.triggers.one.retry.attempts: at most 20",
            id="too-many-attempts",
        ),
        pytest.param(
            (*GOOD, "max_fires: 0"),
            "9: tenants.acme.triggers.one.max_fires: at least 1",
            id="max-fires-zero",
        ),
        pytest.param(
            (*GOOD, "smear_s: 3601"),
            "9: tenants.acme.triggers.one.smear_s: at most 3,600",
            id="smear-too-long",
        ),
        pytest.param(
            (*GOOD, "smear_s: 10s"),
            "9: tenants.acme.triggers.one.smear_s: write a whole number without quotes or unit",
            id="unit-after-a-number-of-seconds",
        ),
        pytest.param(
            (*GOOD, 'paused: "yes"'),
            "9: tenants.acme.triggers.one.paused: write true or false",
            id="text-for-a-boolean",
        ),
        pytest.param(
            (*GOOD, "pause_note: x"),
            "5: tenants.acme.triggers.one: pause_note says why a trigger is paused: add paused: "
            "true",
            id="note-without-pause",
        ),
        pytest.param(
            (*GOOD, "starts_at: 2026-02-30T00:00"),
            "9: tenants.acme.triggers.one.starts_at: there is no such date or time",
            id="start-in-no-calendar",
        ),
        pytest.param(
            (*GOOD, "starts_at: tomorrow"),
            "9: tenants.acme.triggers.one.starts_at: write a local time as 2026-12-24T18:00, or "
            "an instant as 2026-12-24T17:00:00Z",
            id="start-unreadable",
        ),
        pytest.param(
            (*GOOD, "starts_at: 2026-03-01T00:00", "ends_at: 2026-02-01T00:00"),
            "5: tenants.acme.triggers.one: ends_at lies before starts_at: exchange them",
            id="end-before-start",
        ),
        pytest.param(
            (*GOOD, "exclude: [2026-12-24, 2026-02-30]"),
            "9: tenants.acme.triggers.one.exclude: this date is in no calendar",
            id="excluded-date-in-no-calendar",
        ),
        pytest.param(
            ("schedule: [\"0 9 * * *\", '']", "zone: UTC", "target: t"),
            '6: tenants.acme.triggers.one.schedule: write an expression in quotes, as in "0 9 * * '
            'MON-FRI", or a list of expressions',
            id="empty-expression",
        ),
        pytest.param(
            ('schedule: "0 9 * * *"', "zone: UTC", "target: tt"),
            "8: tenants.acme.triggers.one.target: no target 'tt' in this tenant: did you mean `t`?",
            id="unknown-target",
        ),
    ],
)
def test_bad_trigger_is_refused_at_its_line(lines: tuple[str, ...], expected: str) -> None:
    assert refusals(with_trigger(*lines)) == [expected]


@pytest.mark.parametrize(
    ("lines", "start", "hint"),
    [
        pytest.param(
            ('schedule: "0 9 * * *"', "zone: Europe/Brelin", "target: t"),
            "7: tenants.acme.triggers.one.zone: 'Europe/Brelin': ",
            "did you mean `Europe/Berlin`?",
            id="zone-misspelt",
        ),
        pytest.param(
            ('schedule: "0 9 * * *"', "zone: europe/berlin", "target: t"),
            "7: tenants.acme.triggers.one.zone: 'europe/berlin': ",
            "did you mean `Europe/Berlin`?",
            id="zone-in-the-wrong-case",
        ),
        pytest.param(
            ('schedule: "0 25 * * *"', "zone: UTC", "target: t"),
            "6: tenants.acme.triggers.one.schedule: hour: '25': ",
            "",
            id="hour-25",
        ),
        pytest.param(
            ('schedule: "0 0 30 2 *"', "zone: UTC", "target: t"),
            "6: tenants.acme.triggers.one.schedule: ",
            "",
            id="thirtieth-of-february",
        ),
        pytest.param(
            ('schedule: ["0 9 * * *", "61 * * * *"]', "zone: UTC", "target: t"),
            "6: tenants.acme.triggers.one.schedule: minute: '61': ",
            "",
            id="one-member-of-a-union",
        ),
        pytest.param(
            (
                "schedule: at 2026-12-24T18:00",
                "zone: UTC",
                "target: t",
                "ends_at: 2026-12-24T17:00",
            ),
            "9: tenants.acme.triggers.one.ends_at: ",
            "",
            id="nothing-before-the-end",
        ),
    ],
)
def test_recurrence_that_cannot_be_used_is_refused_at_its_key(
    lines: tuple[str, ...], start: str, hint: str
) -> None:
    found = refusals(with_trigger(*lines))
    assert len(found) == 1
    assert found[0].startswith(start)
    assert found[0].endswith(hint)


def test_one_off_in_the_past_still_loads() -> None:
    """A manifest stays appliable after its one-off has fired."""
    text = with_trigger("schedule: at 2020-01-01T00:00", "zone: UTC", "target: t")
    assert load(text).tenants["acme"].triggers["one"].schedule == ("at 2020-01-01T00:00",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "1: the file is empty: start with `tenants:`", id="empty"),
        pytest.param("# nothing\n", "1: the file is empty: start with `tenants:`", id="comment"),
        pytest.param("just text\n", "1: write a mapping of keys and values", id="text"),
        pytest.param("- a\n- b\n", "1: write a mapping of keys and values", id="list"),
        pytest.param(
            "tenants:\n",
            "1: tenants: nothing stands here: write keys under it, or remove it",
            id="empty-key",
        ),
        pytest.param(
            "tenants: {}\n---\ntenants: {}\n",
            "2: a second document starts here: keep one, or write two files",
            id="two-documents",
        ),
        pytest.param(
            "tenants:\n\tacme: {}\n",
            "2: not YAML: found character that cannot start any token; this is a tab: indent with "
            "blanks",
            id="tab",
        ),
        pytest.param(
            'tenants: {}\nname: "open\nmore: 1\n',
            "2: not YAML: found unexpected end of stream; this quote is never closed",
            id="open-quote",
        ),
        pytest.param(
            b"tenants: {}\n# \xff\n", "2: not UTF-8: save the file as UTF-8", id="latin-1"
        ),
        pytest.param(
            "tenants: {}\n# \0\n",
            "2: control character U+0000: remove it, or write it escaped",
            id="nul",
        ),
        pytest.param(
            "tenants: {}\ntenant: {}\n",
            "2: tenant: unknown key 'tenant': did you mean `tenants`?",
            id="unknown-top-key",
        ),
        pytest.param(
            "tenants: {}\ntenants: {}\n",
            "2: 'tenants' stands here again; it is already on line 1",
            id="key-twice",
        ),
        pytest.param(
            "tenants:\n  Acme: {}\n",
            "2: tenants.Acme: a name is lower-case letters, digits, `.`, `_` and `-`, and starts "
            "and ends with a letter or digit",
            id="name-in-capitals",
        ),
        pytest.param(
            f"tenants:\n  {'a' * 129}: {{}}\n",
            f"2: tenants.{'a' * 129}: a name has at most 128 characters",
            id="name-too-long",
        ),
        pytest.param(
            "tenants:\n  acme: {quota_trigers: 5}\n",
            "2: tenants.acme.quota_trigers: unknown key 'quota_trigers': did you mean "
            "`quota_triggers`?",
            id="unknown-tenant-key",
        ),
        pytest.param(
            "tenants:\n  acme:\n    defaults: {schedule: x}\n",
            "3: tenants.acme.defaults.schedule: unknown key 'schedule': the keys here are "
            "calendars, ends_at, exclude, fold, gap, horizon, max_fires, missed, outcome_window, "
            "overlap, response_is_outcome, resume, retry, run_timeout, smear_s, starts_at, "
            "target, zone",
            id="not-a-default",
        ),
        pytest.param(
            "tenants:\n  acme: !!python/object/apply:os.getcwd {}\n",
            "2: tenants.acme: YAML tags (`!...`) are not read: remove it",
            id="tag",
        ),
        pytest.param(
            "tenants:\n  acme:\n    <<: {a: 1}\n",
            "3: tenants.acme: merge keys (`<<`) are not read: use `defaults:`",
            id="merge-key",
        ),
        pytest.param(
            "tenants:\n  ? [a]\n  : {}\n",
            "2: tenants: a key must be text, not a list or a mapping: quote it",
            id="list-as-key",
        ),
    ],
)
def test_unusable_file_is_refused_with_its_line(text: str | bytes, expected: str) -> None:
    assert refusals(text) == [expected]


@pytest.mark.parametrize("schedule", ["*/5 * * * *", "* * * * *", "*x"])
def test_unquoted_star_is_told_to_be_quoted(schedule: str) -> None:
    found = refusals(with_trigger(f"schedule: {schedule}", "zone: UTC", "target: t"))
    assert len(found) == 1
    assert found[0].startswith("6: ")
    assert 'must be quoted, as in "*/5 * * * *"' in found[0]


def test_unquoted_nickname_is_told_to_be_quoted() -> None:
    assert refusals(with_trigger("schedule: @daily", "zone: UTC", "target: t")) == [
        "6: not YAML: found character that cannot start any token; a value that starts with '@' "
        'must be quoted, as in "@daily"'
    ]


def test_trigger_name_twice_is_refused_with_both_lines() -> None:
    text = with_trigger(*GOOD) + "      one: {}\n"
    assert refusals(text) == [
        "9: tenants.acme.triggers: 'one' stands here again; it is already on line 5"
    ]


def test_alias_bomb_is_refused_at_its_first_anchor() -> None:
    levels = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 30))
    found = refusals("x0: &x0 lol\n" + levels)
    assert len(found) == 1
    assert found[0].startswith("1: x0: YAML anchors and aliases are not read")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="flow"),
        pytest.param("a: " + "[" * 60 + "]" * 60, id="closed"),
    ],
)
def test_deep_nesting_is_refused_without_recursion(text: str) -> None:
    found = refusals(text)
    assert len(found) == 1
    assert "nest" in found[0]


def test_oversize_file_is_refused_before_it_is_read() -> None:
    assert refusals(b"#" * (MANIFEST_BYTES_MAX + 1)) == [
        "1: the file holds 67,108,865 bytes and the limit is 67,108,864: split it by tenant"
    ]


def test_payload_at_the_limit_loads_and_one_byte_more_is_refused() -> None:
    fits = "x" * (PAYLOAD_BYTES_MAX - 2)  # and two quotes
    tenant = load(with_trigger(*GOOD, f"payload: {fits}")).tenants["acme"]
    assert len(tenant.triggers["one"].payload_json) == 65_536
    assert refusals(with_trigger(*GOOD, f"payload: {fits}x")) == [
        "9: tenants.acme.triggers.one.payload: the payload is 65,537 bytes as JSON and the limit "
        "is 65,536: send a reference to the data instead"
    ]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(
            'url: "http://10.0.0.1/hook"',
            "3: tenants.acme.targets.t.url: endpoint: host 10.0.0.1 is refused (private address): "
            "use a public address",
            id="private-address",
        ),
        pytest.param(
            'url: "http://127.0.0.1:8400/hook"',
            "3: tenants.acme.targets.t.url: endpoint: host 127.0.0.1 is refused (loopback "
            "address): use a public address, or allow loopback targets (a local setting)",
            id="loopback-not-allowed",
        ),
        pytest.param(
            'url: "ftp://example.com/"',
            "3: tenants.acme.targets.t.url: endpoint: scheme ftp: only http and https",
            id="scheme",
        ),
        pytest.param(
            'url: "https://example.com/", timeout_s: 61',
            "3: tenants.acme.targets.t.timeout_s: at most 60",
            id="timeout",
        ),
        pytest.param(
            "timeout_s: 5",
            "3: tenants.acme.targets.t.url: missing: say where fires go, as in `url: "
            '"https://example.com/hook"`',
            id="no-url",
        ),
        pytest.param(
            f'url: "https://example.com/", secret: {SECRET}, secret_env: A',
            "3: tenants.acme.targets.t: give one of secret, secret_env and secret_file, not "
            "several",
            id="two-secrets",
        ),
    ],
)
def test_bad_target_is_refused_and_its_trigger_is_not_blamed(target: str, expected: str) -> None:
    assert refusals(with_trigger(*GOOD, target=target), allow_loopback=False) == [expected]


@pytest.mark.parametrize(
    "target",
    [
        pytest.param('url: "https://example.com/", secret: hunter2hunter2', id="plain"),
        pytest.param('url: "https://example.com/", secret: whsec_aHVudGVyMg==', id="short"),
        pytest.param('url: "https://example.com/", secret: 0123', id="unclear-scalar"),
        pytest.param('url: "https://example.com/", secret: {hunter2: 1}', id="mapping"),
        pytest.param('url: "https://user:hunter2@example.com/"', id="user-info"),
        pytest.param('url: "https://example.com/", secret: "hunter2', id="open-quote"),
        pytest.param('url: "https://example.com/", secret: hunter2, secret: hunter2', id="twice"),
        pytest.param('url: "https://example.com/", whsec_hunter2: 1', id="as-a-key"),
        pytest.param('url: "https://example.com/", secret, hunter2', id="comma-for-a-colon"),
        pytest.param("whsec_hunter2: no, whsec_hunter2: no", id="as-a-key-twice"),
    ],
)
def test_bad_secret_is_never_repeated(target: str) -> None:
    found = "\n".join(refusals(with_trigger(*GOOD, target=target)))
    assert found
    assert "hunter2" not in found
    assert "aHVudGVyMg" not in found
    assert "0123" not in found


def test_secret_stays_out_of_repr_and_manifest_repr() -> None:
    manifest = load(FULL)
    assert SECRET not in repr(manifest)
    assert SECRET not in repr(manifest.tenants["acme"].targets["billing"])


def test_all_problems_are_told_at_once_in_the_files_order() -> None:
    text = """\
tenants:
  acme:
    quota_inflight: "10"
    targets:
      t: {url: "https://example.com/", timeout_s: 0, secret: short}
      b4:
    defaults: {zone: Europe/Brelin, retry: {attempts: 0}}
    triggers:
      b: {schedule: "0 25 * * *", zone: UTC, target: x, retry: {attempts: 1}}
      a: {schedule: "0 9 * * *", target: t}
  Beta:
    smear_s: no
"""
    places = [line.split(": ")[:2] for line in refusals(text)]
    assert places == [
        ["3", "tenants.acme.quota_inflight"],
        ["5", "tenants.acme.targets.t.timeout_s"],
        ["5", "tenants.acme.targets.t.secret"],
        ["6", "tenants.acme.targets.b4"],
        ["7", "tenants.acme.defaults.zone"],
        ["7", "tenants.acme.defaults.retry.attempts"],
        ["9", "tenants.acme.triggers.b.schedule"],
        ["9", "tenants.acme.triggers.b.target"],
        ["11", "tenants.Beta"],
        ["12", "tenants.Beta.smear_s"],
    ]


def test_mistake_in_defaults_is_told_once_for_all_triggers() -> None:
    lines = "".join(f'      t{n}: {{schedule: "{n} 9 * * *", target: t}}\n' for n in range(50))
    text = (
        'tenants:\n  acme:\n    targets: {t: {url: "https://example.com/"}}\n'
        f"    defaults: {{zone: Mars/Olympus}}\n    triggers:\n{lines}"
    )
    found = refusals(text)
    assert len(found) == 1
    assert found[0].startswith("4: tenants.acme.defaults.zone: 'Mars/Olympus': ")


def test_flood_of_problems_is_cut_and_counted() -> None:
    text = "tenants:\n" + "".join(f"  A{n}: {{}}\n" for n in range(105))
    found = refusals(text)
    assert len(found) == 101
    assert found[-1] == ": and 5 more problems"


def test_flood_of_problems_of_yaml_is_cut_and_counted() -> None:
    found = refusals("tenants: {acme: {triggers: {one: {payload: [" + "!x 1, " * 105 + "]}}}}")
    assert len(found) == 101
    assert found[-1] == ": and 5 more problems"


def test_file_of_many_values_is_refused_where_they_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(yaml_tree, "MANIFEST_VALUES_MAX", 20)
    assert refusals("tenants:\n" + "".join(f"  a{n}: {{}}\n" for n in range(30))) == [
        "20: tenants.a18: at most 20 values: split it by tenant"
    ]


def test_manifest_errors_pickle_to_the_same_text() -> None:
    with pytest.raises(ManifestErrors) as caught:
        load("tenants: {A: {}, B: {}}")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.problems == caught.value.problems


def test_full_manifest_survives_to_yaml() -> None:
    manifest = load(FULL)
    text = to_yaml(manifest)
    assert load(text) == manifest
    assert to_yaml(load(text)) == text


UNCLEAR = ["no", "on", "1e3", "0o7", "12:30", "010", "~", "=", "<<", "*x", "2026-01-01"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(UNCLEAR)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from(UNCLEAR), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(payload=JSON)
def test_any_json_payload_survives_to_yaml(payload: object) -> None:
    trigger = TriggerSpec.model_validate(
        {"schedule": "@daily", "zone": "UTC", "target": "t", "payload": payload}
    )
    target = TargetSpec.model_validate({"url": "https://example.com/"})
    tenant = TenantSpec(targets={"t": target}, triggers={"one": trigger})
    manifest = Manifest(tenants={"acme": tenant})
    again = load(to_yaml(manifest))
    assert again == manifest
    assert again.tenants["acme"].triggers["one"].payload == payload


def test_demo_manifest_loads_with_six_triggers() -> None:
    text = Path(punctual.__file__).with_name("demo.yaml").read_bytes()
    demo = load(text).tenants["demo"]
    assert demo.targets["receiver"].url == "http://127.0.0.1:8401/fires"
    assert {name: trigger.schedule for name, trigger in demo.triggers.items()} == {
        "heartbeat": ("every 10s",),
        "minutely": ("* * * * *",),
        "weekday-digest": ("0 9 * * MON-FRI",),
        "nightly-cleanup": ("H H(1-4) * * *",),
        "month-end-close": ("30 23 L * *",),
        "slow-report": ("*/5 * * * *",),
    }
    assert all(trigger.response_is_outcome for trigger in demo.triggers.values())
    assert demo.triggers["slow-report"].overlap_policy is OverlapPolicy.BUFFER_ONE
    assert demo.triggers["weekday-digest"].zone == "Europe/Berlin"


def test_model_takes_only_the_keys_that_a_person_writes() -> None:
    with pytest.raises(ValueError, match="missed_policy"):
        TriggerSpec.model_validate(
            {"schedule": "@daily", "zone": "UTC", "target": "t", "missed_policy": "skip"}
        )


def test_error_names_line_and_column_of_the_value_at_fault() -> None:
    text = with_trigger(*GOOD, "retry: {attempts: 21}")
    with pytest.raises(ManifestErrors) as raised:
        load(text)
    assert str(raised.value) == (
        "m.yaml:9:17: tenants.acme.triggers.one.retry.attempts: at most 20"
    )


def test_canonical_payload_ignores_the_order_of_keys() -> None:
    one = load(with_trigger(*GOOD, "payload: {a: 1, b: 2}"))
    other = load(with_trigger(*GOOD, "payload: {b: 2, a: 1}"))
    assert one == other
    assert json.loads(one.tenants["acme"].triggers["one"].payload_json) == {"a": 1, "b": 2}


def test_error_about_a_name_with_control_characters_does_not_steer_a_terminal() -> None:
    text = (
        "tenants:\n  a:\n    triggers:\n"
        '      "x\\e[31m\\nforged.yaml:1: all is well": {schedule: "* * * * *"}\n'
    )
    with pytest.raises(ManifestErrors) as raised:
        load_manifest(text, name="f\x1b[0m", now_us=0, allow_loopback=True)
    for line in str(raised.value).split("\n"):
        assert line.isprintable()
        assert line.startswith(r"f\x1b[0m:")


def test_target_of_the_store_alone_is_named_in_the_manifest_too() -> None:
    text = """\
tenants:
  acme:
    triggers:
      one: {schedule: "0 9 * * *", zone: UTC, target: hook}
"""
    (told,) = refusals(text)
    assert told.endswith(
        "tenants.acme.triggers.one.target: the manifest has no targets for this tenant: write "
        "this one under `targets:`, also where the service has it already"
    )
