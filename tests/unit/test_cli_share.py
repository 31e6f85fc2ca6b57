"""`tenants`, `quota`, `horizon`, `token` and `grants`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, at_terminal, command_line, table
from tests.support.definitions import a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """The tenant `acme` with one minutely trigger."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    yield found
    found.service.close()


def newest_actor_and_action(punctual: CommandLine) -> tuple[str, str]:
    (entry,) = punctual.service.store.audit.entries(limit=1)
    return entry.actor, entry.action


def a_token(punctual: CommandLine, *grants: str, principal: str = "ci") -> str:
    options = [word for grant in grants for word in ("--grant", grant)]
    result = punctual("token", "create", "--principal", principal, *options)
    assert result.exit_code == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("words", [("tenants",), ("tenants", "list"), ("tenants", "show", "acme")])
def test_tenants_show_what_each_may_have(punctual: CommandLine, words: tuple[str, ...]) -> None:
    assert table(punctual(*words).stdout) == [
        ["tenant", "triggers", "fires per s", "in flight", "catch-up", "smear"],
        ["acme", "100,000", "100", "1,000", "10 %", "0 s"],
    ]


def test_tenants_put_creates_confirms_and_sets_the_smear(punctual: CommandLine) -> None:
    assert punctual("tenants", "put", "beta", "--smear-s", "3").stdout == (
        "Created beta: up to 100,000 triggers, 100 fires per second, 1,000 in flight.\n"
    )
    assert punctual("tenants", "put", "beta").stdout == (
        "beta is there already; nothing changed.\n"
    )
    assert punctual("tenants", "put", "beta", "--smear-s", "5").stdout == (
        "Set beta: smear 3 s → 5 s.\n"
    )
    assert punctual.json("tenants", "show", "beta")["smear_s"] == 5


def test_tenants_put_refuses_what_is_no_name(punctual: CommandLine) -> None:
    result = punctual("tenants", "put", "Beta Ltd")
    assert (result.exit_code, "a name is lower-case letters" in result.stderr) == (1, True)


def test_tenants_show_of_an_unknown_one_suggests_one(punctual: CommandLine) -> None:
    assert punctual("tenants", "show", "acne").stderr == (
        "punctual: tenant: there is no tenant 'acne'; did you mean acme?\n"
    )


def test_quota_shows_and_sets_before_and_after(punctual: CommandLine) -> None:
    assert table(punctual("quota", "acme").stdout)[1:3] == [
        ["triggers", "100,000"],
        ["fires per second", "100"],
    ]
    result = punctual("quota", "acme", "--triggers", "500", "--dispatch-per-s", "100")
    assert (result.exit_code, result.stdout) == (0, "Set acme: triggers 100,000 → 500.\n")
    assert punctual("quota", "acme", "--triggers", "500").stdout == (
        "acme has these quotas already; nothing changed.\n"
    )
    assert punctual.json("quota", "acme", "--inflight", "7", "--catchup-rate-pct", "50") == {
        **punctual.json("tenants", "show", "acme"),
        "quota_inflight": 7,
        "catchup_rate_pct": 50,
    }


def test_quota_over_the_service_s_own_bound_is_refused(punctual: CommandLine) -> None:
    result = punctual("quota", "acme", "--triggers", "10000001")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --triggers: at most 10,000,000\n",
    )


def test_horizon_says_before_after_and_who_chose_it(punctual: CommandLine) -> None:
    result = punctual("horizon", "minutely", "6h", "--note", "nightly batch")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "Set the horizon of acme/minutely: 1h (default) → 6h (chosen by cli:"
    )
    again = punctual("horizon", "minutely", "6h")
    assert again.stdout.startswith("acme/minutely has the horizon 6h (chosen by cli:")
    back = punctual.json("horizon", "minutely", "default")
    assert back["trigger"]["horizon_source"] == "default"


@pytest.mark.parametrize(
    ("duration", "message"),
    [("6", "horizon: write a duration with its unit"), ("8d", "horizon: at most 7d")],
)
def test_horizon_of_a_wrong_duration_is_refused(
    punctual: CommandLine, duration: str, message: str
) -> None:
    result = punctual("horizon", "minutely", duration)
    assert (result.exit_code, result.stderr.startswith(f"punctual: {message}")) == (1, True)


def test_token_alone_is_on_stdout_and_acts_as_its_principal(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = punctual(
        *("token", "create", "--principal", "ci", "--grant", "author:acme", "--expires", "90d")
    )
    assert result.stdout.startswith("pun_")
    assert result.stderr.endswith(
        " of ci is good until 2026-08-30 09:00:10Z, and shown this once. ci may: author on acme.\n"
    )
    monkeypatch.setenv("PUNCTUAL_TOKEN", result.stdout.strip())
    assert punctual("pause", "minutely").exit_code == 0
    assert newest_actor_and_action(punctual) == ("ci", "trigger_paused")


@pytest.mark.parametrize(
    ("words", "grant"),
    [
        pytest.param(("pause", "minutely"), "author on tenant acme", id="pause"),
        pytest.param(("run", "minutely"), "author on tenant acme", id="run"),
        pytest.param(("horizon", "minutely", "6h"), "policy on tenant acme", id="horizon"),
        pytest.param(("quota", "acme", "--triggers", "5"), "policy on tenant acme", id="quota"),
        pytest.param(("tenants", "put", "beta"), "operator on the platform", id="tenants"),
        pytest.param(("token", "list"), "operator on the platform", id="token"),
        pytest.param(("targets", "allow", "shop.example"), "operator on the platform", id="allow"),
    ],
)
def test_token_without_the_grant_is_told_which_it_needs(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], grant: str
) -> None:
    monkeypatch.setenv("PUNCTUAL_TOKEN", a_token(punctual, "read:acme"))
    result = punctual(*words)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert f"needs the grant {grant}: ask an operator for it" in result.stderr
    assert newest_actor_and_action(punctual) == ("ci", "privilege_refused")


def test_token_that_is_revoked_is_refused_with_the_remedy(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = a_token(punctual, "author:acme")
    (token_id,) = [
        each["token_id"] for each in punctual.json("token", "list") if each["principal"] == "ci"
    ]
    assert punctual("token", "revoke", token_id).stdout.startswith(f"Revoked {token_id}: ")
    assert punctual("token", "revoke", token_id).stdout == (
        f"{token_id} was revoked already; nothing changed.\n"
    )
    assert token_id not in punctual("token", "list").stdout
    assert "revoked" in punctual("token", "list", "--all").stdout
    monkeypatch.setenv("PUNCTUAL_TOKEN", token)
    result = punctual("pause", "minutely")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: token: the server does not know it, or it ended: put another into "
        "PUNCTUAL_TOKEN; an operator makes one with `punctual token create`\n",
    )


def test_token_revoke_on_a_terminal_asks(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_token(punctual, "author:acme")
    newest = punctual.json("token", "list")[0]
    at_terminal(monkeypatch)
    result = punctual("token", "revoke", newest["token_id"], stdin="n\n")
    assert (result.exit_code, "ends it for good. Go on?" in result.stderr) == (1, True)
    assert punctual.json("token", "list")[0] == newest


def test_token_variable_that_holds_no_token_is_refused(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUNCTUAL_TOKEN", "pun_abc\ndef")
    result = punctual("pause", "minutely")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: token: PUNCTUAL_TOKEN is none: put in what `punctual token create` printed\n",
    )


def test_token_create_for_a_principal_that_may_do_nothing_is_refused(
    punctual: CommandLine,
) -> None:
    result = punctual("token", "create", "--principal", "ci")
    assert (result.exit_code, result.stderr.startswith("punctual: grants: ")) == (1, True)


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        ("writer", "'writer' is no grant; there are read, author, policy, operator, auditor"),
        ("read:", "'read:' names no tenant; leave the colon out for all"),
    ],
    ids=["no_kind", "no_tenant"],
)
def test_grants_that_are_none_are_a_wrong_command_line(
    punctual: CommandLine, grant: str, message: str
) -> None:
    for words in (
        ("token", "create", "--principal", "ci", "--grant", grant),
        ("grants", "add", "ci", grant),
    ):
        result = punctual(*words)
        assert (result.exit_code, message in result.stderr) == (2, True)


def test_grants_are_added_listed_and_removed(punctual: CommandLine) -> None:
    assert punctual("grants", "add", "ci", "policy:acme").stdout == (
        "ci may policy on acme from now on.\n"
    )
    assert punctual("grants", "add", "ci", "policy:acme").stdout == (
        "ci may policy on acme already; nothing changed.\n"
    )
    punctual("grants", "add", "ci", "read")
    for words in (("grants", "--principal", "ci"), ("grants", "list", "--principal", "ci")):
        assert table(punctual(*words).stdout) == [
            ["principal", "may", "on"],
            ["ci", "read", "the platform"],
            ["ci", "policy", "acme"],
        ]
    assert punctual("grants", "remove", "ci", "policy:acme").exit_code == 0
    refused = punctual("grants", "remove", "ci", "policy:acme")
    assert (refused.exit_code, "does not hold" in refused.stderr) == (1, True)


def test_grants_on_an_unknown_tenant_suggest_one(punctual: CommandLine) -> None:
    assert punctual("grants", "add", "ci", "policy:acne").stderr == (
        "punctual: grant: there is no tenant 'acne'; did you mean acme?\n"
    )


def test_tenants_delete_payloads_asks_where_nobody_can_answer(punctual: CommandLine) -> None:
    refused = punctual("tenants", "delete-payloads", "acme")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    done = punctual("tenants", "delete-payloads", "acme", "--yes")
    assert done.stdout == (
        "Deleted the key of acme: its payloads and secrets cannot be read any more.\n"
    )
    assert newest_actor_and_action(punctual)[1] == "payload_key_deleted"
