"""Lists without --tenant, for those who may not read every tenant."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from control_api.operations.principals import new_token
from ports.changes import AddGrant, CreateToken
from ports.principals import GrantKind, GrantRecord
from tests.support.command_line import CommandLine, command_line
from tests.support.definitions import a_target, a_tenant, a_trigger


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


LISTS = [
    ("fires",),
    ("triggers",),
    ("events",),
    ("backlog",),
    ("audit",),
    ("upcoming",),
    ("hot-seconds",),
    ("targets",),
    ("calendars",),
    ("tenants",),
]
KINDS = (GrantKind.AUTHOR, GrantKind.AUDITOR)


def as_holder_on(punctual: CommandLine, monkeypatch: pytest.MonkeyPatch, *tenants: str) -> None:
    """The commands are those of somebody who holds these grants on these tenants."""
    token, token_id, hashed = new_token()
    punctual.service.apply(
        a_tenant("beta"),
        a_target(tenant_id="beta"),
        a_trigger("theirs", tenant_id="beta"),
        CreateToken(principal_id="holder", token_id=token_id, token_hash=hashed),
        *(AddGrant(grant=GrantRecord("holder", kind, each)) for each in tenants for kind in KINDS),
    )
    monkeypatch.setenv("PUNCTUAL_TOKEN", token)


@pytest.mark.parametrize("arguments", LISTS, ids=" ".join)
def test_lists_for_a_holder_of_one_tenant_are_of_that_one(
    punctual: CommandLine, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    punctual.after_an_outage()
    as_holder_on(punctual, monkeypatch, "beta")
    result = punctual(*arguments)
    assert (result.exit_code, result.stderr.count("not all")) == (0, 0), result.stderr
    assert "acme" not in result.stdout
    named = punctual(*arguments, *(() if arguments == ("tenants",) else ("--tenant", "beta")))
    assert (named.exit_code, named.stdout) == (0, result.stdout)


@pytest.mark.parametrize("arguments", LISTS[:5], ids=" ".join)
def test_lists_for_a_holder_of_two_tenants_ask_which(
    punctual: CommandLine, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_holder_on(punctual, monkeypatch, "acme", "beta")
    result = punctual(*arguments)
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --tenant: not all tenants are yours to read: name one of acme and beta\n",
    )
    assert punctual(*arguments, "--tenant", "beta").exit_code == 0
