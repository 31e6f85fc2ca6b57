"""`targets`: what there is, whose hosts they are, and the secret that receivers check."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, at_terminal, command_line, table
from tests.support.definitions import SECRET, a_target, a_tenant, a_trigger

ACTOR = f"cli:{getpass.getuser()}"
LOCAL = "http://127.0.0.1:8099/hook"
UNPROVEN = "https://nowhere.invalid/hook"  # a name that never resolves (RFC 6761)


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """The target `acme/shop`, which an operator vouches for, with one trigger."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"))
    yield found
    found.service.close()


@pytest.mark.parametrize("words", [("targets",), ("targets", "list", "--tenant", "acme")])
def test_targets_show_endpoints_and_owners_and_never_a_secret(
    punctual: CommandLine, words: tuple[str, ...]
) -> None:
    assert table(punctual(*words).stdout) == [
        ["target", "endpoint", "timeout", "owner"],
        ["acme/shop", "https://shop.example/hook", "10 s", "vouched for"],
    ]
    assert "whsec_" not in json.dumps(punctual.json(*words))


def test_targets_of_an_unknown_tenant_suggest_one(punctual: CommandLine) -> None:
    assert punctual("targets", "--tenant", "acne").stderr == (
        "punctual: --tenant: there is no tenant 'acne'; did you mean acme?\n"
    )


@pytest.mark.parametrize("name", ["acme/shop", "shop"])
def test_targets_secret_is_printed_and_audited(punctual: CommandLine, name: str) -> None:
    result = punctual("targets", "secret", name)
    assert (result.exit_code, result.stdout) == (0, f"{SECRET}\n")
    (entry,) = punctual.service.store.audit.entries(limit=1)
    assert (entry.actor, entry.action, entry.tenant_id, entry.subject) == (
        ACTOR,
        "secret_shown",
        "acme",
        "shop",
    )


def test_targets_secret_takes_the_folder_before_its_name(punctual: CommandLine) -> None:
    result = punctual.bare("targets", "--data", str(punctual.data), "secret", "acme/shop")
    assert (result.exit_code, result.stdout) == (0, f"{SECRET}\n")


def test_targets_secret_of_an_unknown_target_suggests_one(punctual: CommandLine) -> None:
    result = punctual("targets", "secret", "acme/shap")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: target: no 'acme/shap'; did you mean acme/shop?\n",
    )


def test_targets_secret_of_a_name_of_several_tenants_lists_them(punctual: CommandLine) -> None:
    punctual.service.apply(a_tenant("beta"), a_target("beta"))
    result = punctual("targets", "secret", "shop")
    assert result.stderr == (
        "punctual: target: 'shop' is the name of several: acme/shop, beta/shop; name one\n"
    )


def test_targets_put_creates_confirms_and_shows_before_and_after(punctual: CommandLine) -> None:
    created = punctual("targets", "put", "acme/mine", LOCAL, "--timeout-s", "3")
    assert (created.exit_code, created.stdout, created.stderr) == (
        0,
        f"Created acme/mine: {LOCAL}, timeout 3 s.\n",
        "",
    )
    assert punctual("targets", "put", "acme/mine", LOCAL).stdout == (
        "acme/mine says so already; nothing changed.\n"
    )
    assert punctual("targets", "put", "acme/mine", f"{LOCAL}2").stdout == (
        f"Set acme/mine: url {LOCAL} → {LOCAL}2.\n"
    )
    assert punctual("targets", "put", "acme/mine", f"{LOCAL}2", "--timeout-s", "4").stdout == (
        "Set acme/mine: timeout 3 s → 4 s.\n"
    )


def test_targets_put_takes_the_secret_from_a_file_and_prints_it_nowhere(
    punctual: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    file = str(tmp_path / "secret")
    result = punctual("targets", "put", "acme/mine", LOCAL, "--secret-file", file)
    assert (result.exit_code, SECRET in result.output) == (0, False)
    assert punctual("targets", "secret", "acme/mine").stdout == f"{SECRET}\n"
    other = SECRET.replace("c2Vj", "b3Ro", 1)
    again = punctual("targets", "put", "acme/mine", LOCAL, "--secret-file", "-", stdin=other)
    assert again.stdout == "Set acme/mine: its secret.\n"
    assert punctual("targets", "secret", "acme/mine").stdout == f"{other}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ("mine", LOCAL), "target: 'mine' names no tenant: write it as TENANT/TARGET", id="bare"
        ),
        pytest.param(
            ("acne/mine", LOCAL),
            "target: there is no tenant 'acne'; did you mean acme?",
            id="tenant",
        ),
        pytest.param(
            ("acme/mine", "ftp://files.example"),
            "url: scheme ftp: only http and https",
            id="scheme",
        ),
        pytest.param(
            ("acme/mine", LOCAL, "--timeout-s", "100"), "--timeout-s: at most 60", id="timeout"
        ),
    ],
)
def test_targets_put_of_what_cannot_be_says_what_to_write(
    punctual: CommandLine, words: tuple[str, ...], message: str
) -> None:
    result = punctual("targets", "put", *words)
    assert (result.exit_code, result.stderr) == (1, f"punctual: {message}\n")


def test_targets_of_an_unproven_host_say_what_to_serve_where(punctual: CommandLine) -> None:
    put = punctual("targets", "put", "acme/far", UNPROVEN)
    assert (put.exit_code, put.stdout) == (0, f"Created acme/far: {UNPROVEN}, timeout 10 s.\n")
    assert put.stderr.startswith("Nothing is sent there yet: ")
    where = "https://nowhere.invalid/.well-known/punctual-ownership"
    assert where in put.stderr
    assert "Then run `punctual targets verify acme/far`" in put.stderr
    checked = punctual("targets", "verify", "acme/far")
    assert (checked.exit_code, checked.stdout) == (1, "")
    assert checked.stderr.startswith("punctual: target: acme/far is pending: ")
    assert where in checked.stderr


def test_targets_of_a_host_that_is_allowed_are_used_at_once(punctual: CommandLine) -> None:
    punctual("targets", "put", "acme/far", UNPROVEN)
    allowed = punctual("targets", "allow", "nowhere.invalid", "--tenant", "acme", "--note", "ours")
    assert (allowed.exit_code, allowed.stdout) == (0, "Allowed nowhere.invalid for acme.\n")
    assert punctual("targets", "allow", "nowhere.invalid", "--tenant", "acme").stdout == (
        "nowhere.invalid was allowed for acme already; nothing changed.\n"
    )
    assert ["nowhere.invalid", "acme", ACTOR, "2026-06-01 09:00:10Z"] in table(
        punctual("targets", "allowed").stdout
    )
    assert punctual("targets", "verify", "acme/far").stdout == (
        "acme/far is vouched for: fires are sent there.\n"
    )
    assert punctual("targets", "disallow", "nowhere.invalid", "--tenant", "acme").stdout == (
        "nowhere.invalid is not vouched for any more for acme.\n"
    )
    assert "not proven" in punctual("targets").stdout


def test_targets_allow_takes_the_tenant_before_its_name(punctual: CommandLine) -> None:
    result = punctual("targets", "--tenant", "acme", "allow", "shop.example")
    assert result.stdout == "Allowed shop.example for acme.\n"


def test_targets_allowed_where_there_are_none_says_so(punctual: CommandLine) -> None:
    result = punctual("targets", "allowed")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "Nobody vouches for any host: every target's host has to prove its owner.\n"
    )


def test_targets_delete_refuses_one_that_is_used_and_names_the_trigger(
    punctual: CommandLine,
) -> None:
    result = punctual("targets", "delete", "acme/shop")
    assert (result.exit_code, "'minutely'" in result.stderr) == (1, True)


@pytest.mark.parametrize(("answer", "exit_code"), [("y\n", 0), ("n\n", 1)])
def test_targets_delete_on_a_terminal_asks(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch, answer: str, exit_code: int
) -> None:
    punctual("targets", "put", "acme/mine", LOCAL)
    at_terminal(monkeypatch)
    result = punctual("targets", "delete", "acme/mine", stdin=answer)
    assert result.exit_code == exit_code
    assert f"Deleting acme/mine ({LOCAL}) forgets its secret. Go on?" in result.stderr
    assert ("acme/mine" in punctual("targets").stdout) is (exit_code == 1)
