"""Which grant each route needs, and the page of it.

The operations decide; this table is what they must come to. `tests/api/test_matrix.py` tries every
route with every single grant and compares. `python -m control_api.grants_reference >
docs/grants.md` writes the page anew.
"""

import sys
from typing import Final, Literal, NamedTuple

from ports.principals import GrantKind

Scope = Literal["tenant", "named", "listed", "platform", "own", "attempt", "open"]
Route = tuple[str, str]  # method, path


class Need(NamedTuple):
    """What a route needs.

    kinds:  any one of these is enough
    scope:  where it has to be held, a word of `SCOPES`
    more:   what some requests need beside it
    """

    kinds: tuple[GrantKind, ...]
    scope: Scope
    more: str = ""


SCOPES: Final[dict[Scope, str]] = {
    "tenant": "on the tenant of the path, body or key, or on the platform",
    "named": "on the tenant that the request names, or on the platform; where it names none, on "
    "the platform",
    "listed": "on the tenant that the request names, or on the platform; where it names none, on "
    "the platform for all, or on one tenant alone for that one",
    "platform": "on the platform",
    "own": "any valid token; it is shown what its principal may read",
    "attempt": "the token that came with an attempt, and no other",
    "open": "no token",
}
_READ: Final = (GrantKind.READ,)
_AUTHOR: Final = (GrantKind.AUTHOR,)
_STOP: Final = (GrantKind.AUTHOR, GrantKind.OPERATOR)
_POLICY: Final = (GrantKind.POLICY,)
_OPERATOR: Final = (GrantKind.OPERATOR,)
_TENANT: Final = "/v1/tenants/{tenant}"
_TARGET: Final = _TENANT + "/targets/{target}"
_CALENDAR: Final = _TENANT + "/calendars/{calendar}"
_TRIGGER: Final = _TENANT + "/triggers/{name}"
_FIRE: Final = "/v1/fires/{fire_key}"
_GRANT: Final = "/v1/principals/{principal}/grants/{kind}"
_HOST: Final = "/v1/allowed-hosts/{host}"
_LONGER: Final = "`policy` for a horizon over the one that holds"
_OF_HOLDER: Final = "`operator` wherever the principal holds or is to hold a grant"
_APPLIED: Final = (
    "`operator` on the platform for a new tenant or its smear, `operator` for a host that is "
    f"vouched for, `policy` for a quota, {_LONGER}"
)

NEEDS: Final[dict[Route, Need]] = {
    ("GET", "/v1/tenants"): Need((), "own"),
    ("GET", _TENANT): Need(_READ, "tenant"),
    ("PUT", _TENANT): Need(_OPERATOR, "platform"),
    ("PUT", _TENANT + "/quota"): Need(_POLICY, "tenant"),
    ("POST", _TENANT + "/payload-key:delete"): Need(_OPERATOR, "tenant"),
    ("GET", _TENANT + "/targets"): Need(_READ, "tenant"),
    ("GET", _TARGET): Need(_READ, "tenant"),
    ("PUT", _TARGET): Need(_AUTHOR, "tenant"),
    ("DELETE", _TARGET): Need(_AUTHOR, "tenant"),
    ("POST", _TARGET + ":verify"): Need(_AUTHOR, "tenant"),
    ("GET", _TARGET + "/secret"): Need(_AUTHOR, "tenant"),
    ("GET", _TENANT + "/calendars"): Need(_READ, "tenant"),
    ("GET", _CALENDAR): Need(_READ, "tenant"),
    ("PUT", _CALENDAR): Need(_AUTHOR, "tenant"),
    ("DELETE", _CALENDAR): Need(_AUTHOR, "tenant"),
    ("GET", "/v1/triggers"): Need(_READ, "listed", "with `name` it finds what the caller may read"),
    ("GET", _TRIGGER): Need(_READ, "tenant"),
    ("PUT", _TRIGGER): Need(_AUTHOR, "tenant", _LONGER),
    ("DELETE", _TRIGGER): Need(_AUTHOR, "tenant"),
    ("POST", _TRIGGER + ":pause"): Need(_STOP, "tenant"),
    ("POST", _TRIGGER + ":resume"): Need(_STOP, "tenant"),
    ("POST", _TRIGGER + ":run"): Need(_AUTHOR, "tenant"),
    ("PUT", _TRIGGER + "/horizon"): Need(_POLICY, "tenant"),
    ("POST", "/v1/preview"): Need((), "own", "`read` on a tenant that it names"),
    ("POST", "/v1/apply"): Need(_AUTHOR, "tenant", _APPLIED),
    ("GET", "/v1/fires"): Need(_READ, "listed"),
    ("GET", _FIRE): Need(_READ, "tenant"),
    ("POST", _FIRE + ":cancel"): Need(_STOP, "tenant"),
    ("GET", _TRIGGER + "/why"): Need(_READ, "tenant"),
    ("GET", _TRIGGER + "/upcoming"): Need(_READ, "tenant"),
    ("GET", _TENANT + "/upcoming"): Need(_READ, "tenant"),
    ("GET", "/v1/backlog"): Need(_READ, "listed"),
    ("GET", _TENANT + "/hot-seconds"): Need(_READ, "tenant"),
    ("GET", "/v1/events"): Need(_READ, "listed"),
    ("GET", "/v1/tokens"): Need(_OPERATOR, "platform"),
    ("POST", "/v1/tokens"): Need(_OPERATOR, "named", _OF_HOLDER),
    ("POST", "/v1/tokens/{token_id}:revoke"): Need(_OPERATOR, "platform"),
    ("GET", "/v1/grants"): Need(_OPERATOR, "platform"),
    ("PUT", _GRANT): Need(_OPERATOR, "named"),
    ("DELETE", _GRANT): Need(_OPERATOR, "named"),
    ("GET", "/v1/allowed-hosts"): Need(_OPERATOR, "platform"),
    ("PUT", _HOST): Need(_OPERATOR, "named"),
    ("DELETE", _HOST): Need(_OPERATOR, "named"),
    ("GET", "/v1/audit"): Need((GrantKind.AUDITOR,), "listed"),
    ("POST", "/v1/outcomes"): Need((), "attempt"),
    ("GET", "/healthz"): Need((), "open"),
    ("GET", "/readyz"): Need((), "open"),
    ("GET", "/metrics"): Need((), "open"),
    ("GET", "/openapi.json"): Need((), "open"),
    ("GET", "/.well-known/jwks.json"): Need((), "open"),
}

_HEAD: Final = """\
# Grants

Made from `control_api/grants_reference.py` by `python -m control_api.grants_reference`; do not edit
it by hand. `tests/api/test_matrix.py` tries every route with every single grant.

A principal is a name, its tokens prove that a caller is that principal, and its grants say what it
may do. A grant is held on one tenant or on the whole platform.

| grant | what it is for |
|---|---|
| `read` | look at definitions and fires; every other grant includes it, in the same scope |
| `author` | definitions, targets and their signing secrets, calendars; pause, resume, run, cancel |
| `policy` | horizons and quotas; authorship never includes it |
| `operator` | tenants, tokens, grants, allowed hosts, payload keys; also pause, resume and cancel |
| `auditor` | the audit |

No grant but `read` is included in another. Whoever holds `operator` in a scope may give any grant
in that scope, to itself as well, and the audit says so.

A token acts with all that its principal holds, so nobody makes one of a principal that holds more
than the maker could give. And whoever made a token may have kept it: a principal gets no grant
(409) while it has a good token that may be in the hands of somebody else who is no operator in
the scope of that grant. That is the token's maker and, where the maker was let in by a token,
whoever made that one before, and so on; what a token's end took away a minute ago no longer
counts. The answer names the token: revoke it first.

With `--auth none` whoever reaches the server is `anonymous` and may do everything. It holds no
grant by name: once the service asks for tokens again, a token that `anonymous` made stands in the
way of grants like any other weaker maker's. The token in a data folder is made by its own
principal, and whoever can read that file is this principal.

**Payloads.** No route and no command shows a payload again. Yet whoever holds `author` decides
where the tenant's fires go, payloads included: its edit of a target's URL sends them to another
host, once that host is proven to be the tenant's. Give `author` to those who may see the payloads.

**Horizons.** Who may edit a trigger may shorten its horizon, and not lengthen it again: whatever is
longer than the one that holds takes `policy`, by `PUT`, by an apply and by an import alike. What
leaves the horizon out leaves it as it is. A new trigger has 1 h, or less where the last trigger of
that name was deleted with less: deleting and making it again is no way round. Another name is
another trigger, with 1 h.

What is refused for want of a grant is answered 403 and leaves an entry in the audit. Where the
caller may not even read the tenant it is answered 404, in the same words as for a tenant that does
not exist, and leaves an entry just so. More than 60 such refusals a minute of one principal are
answered 429.
"""


def grants_reference() -> str:
    """The whole page as Markdown."""
    rows = ["| request | needs | where | beside it |", "|---|---|---|---|"]
    rows += (
        f"| `{method} {path}` | {_words(need)} | {SCOPES[need.scope]} | {need.more} |"
        for (method, path), need in NEEDS.items()
    )
    return "\n".join((_HEAD, "## What each request needs\n", *rows))


def _words(need: Need) -> str:
    return " or ".join(f"`{kind.value}`" for kind in need.kinds) or "nothing"


if __name__ == "__main__":
    sys.stdout.write(grants_reference() + "\n")
