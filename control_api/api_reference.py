"""The page of the API: its rules, and every request and body out of the OpenAPI document.

`python -m control_api.api_reference > docs/api.md` writes it anew; CI compares.
"""

import sys
from collections.abc import Iterator
from textwrap import fill
from typing import Any, Final

from control_api.app import all_routers
from control_api.openapi import TAGS, document_of
from scheduling import limits
from scheduling.durations import duration_text

_HOURS_KEPT: Final = limits.IDEMPOTENCY_KEPT_US // 3_600_000_000

_RULES: Final = f"""\
# The HTTP API

Made by `python -m control_api.api_reference` from the code; do not edit it by hand. The same as a
document for programs: [openapi.json](openapi.json), served at `/openapi.json`. Who may send what
stands in [grants.md](grants.md), what the keys of a trigger mean in [manifest.md](manifest.md).

`punctual up` serves it at `http://127.0.0.1:8400`. The command line is a client of it.

## Rules that hold everywhere

**Who calls.** `Authorization: Bearer TOKEN` on every request, but for `/healthz`, `/readyz`,
`/metrics`, `/openapi.json` and `/.well-known/jwks.json`. Tokens are made by
`punctual token create` or `POST /v1/tokens`; the local one stands in the data folder, in `token`.
`/v1/outcomes` takes the token that came with the attempt, and no other.

**Names and times.** A name is lower-case letters, digits, `.`, `_` and `-`. Instants are RFC 3339
in UTC, with fractions only where there are any; durations are texts with their unit, as `90s`,
`15m`, `6h`, `2d` or `1h30m`. A trigger is named by its name or its id; a name that is made again
after a deletion is another trigger, with another id.

**Bodies** are JSON in UTF-8, declared as `application/json`, of at most
{limits.BODY_BYTES_MAX // 1024} KiB ({limits.APPLY_BODY_BYTES_MAX // 1_048_576} MiB for
`/v1/apply`) and {limits.BODY_DEPTH_MAX} levels, whole within {limits.BODY_S_MAX:g} seconds. A key
or a parameter that nobody reads is refused, with a suggestion; so is a key that stands twice, and a
parameter that comes twice where no list is taken (`state`, `cause`, `lane` and `action` are lists).
Probes without a token may add parameters of their own.

**Creating and replacing.** `PUT` makes what is not there: 201, with `Location`. What is there and
says the same is left as it is: 200. What is there and differs needs `If-Match`: 428 without.
`If-Match: "..."` takes the `ETag` of the last answer as it came, and 412 says that somebody else
was faster; `If-Match: *` replaces whatever is there, and makes nothing; `If-None-Match: *` only
creates. Acts on what exists, such as `:pause` or `DELETE`, take `If-Match` too. A route that looks
at no precondition refuses one.

**Sending again.** A change with an `Idempotency-Key` (1 to {limits.HEADER_CHARS_MAX} printable
characters of ASCII, kept for {_HOURS_KEPT} hours) has one effect however often it is sent: a repeat
is answered as the first was, with `Idempotent-Replayed: true`. The key with another method, path,
query or body is 422. A token is shown once: the repeat of its creation is 409 and names the token
that was made.

**Refusals** are problem documents (RFC 9457, `application/problem+json`): `type` is
`urn:punctual:problem:` and a stable word, `detail` one sentence with the remedy, `errors` every
field at fault with its own sentence. Nothing was changed, unless it says otherwise.

{{statuses}}

**Lists** come in pages of at most `limit` ({limits.PAGE_ROWS_DEFAULT}, up to
{limits.PAGE_ROWS_MAX:,}): `cursor` of one page asks for the next, with the same filters; null is
the end. It holds its place while rows are added: what was there is told once, and what was added
behind the place is told too. Another list's cursor is 400. Without `tenant` a list is of all
tenants, for whoever may read the platform, or of the only one that its caller may read.

**Limits of callers.** Without a token {limits.ANONYMOUS_REQUESTS_PER_MINUTE} requests a minute and
address; {limits.REFUSED_TOKENS_PER_MINUTE} refused tokens a minute and address;
{limits.REFUSED_ACTS_PER_MINUTE} acts a minute and principal that its grants do not allow. Beyond
that: 429, with `Retry-After`.

**Payloads are never shown.** `PUT` of a trigger that has one and of a body without the key
`payload` is 422: send it again, or null to remove it. A horizon that is left out stays as it is;
a longer one needs `policy`. A new trigger has {duration_text(limits.HORIZON_S_DEFAULT)}, or less
where the last trigger of its name was deleted with less.

**A target's host** has to serve a line of ours before a trigger may use the target: `PUT` of the
target says which (`ownership.serve_text`) and where (`ownership.serve_at`), `:verify` asks the
host. An operator may vouch for a host instead (`/v1/allowed-hosts`). A proof holds for
{limits.OWNERSHIP_LAPSES_AFTER_S // 86_400} days and is renewed from the
{limits.OWNERSHIP_RECHECK_AFTER_S // 86_400}th on; without one attempts end unsent.
"""


def api_reference() -> str:
    """The whole page as Markdown."""
    document = document_of(all_routers())
    statuses = "\n".join(_statuses(document))
    rules = "\n\n".join(map(_filled, _RULES.split("\n\n"))).format(statuses=statuses)
    parts = [rules, "\n## Requests", *_requests(document), "## Bodies", *_bodies(document)]
    return "\n".join(parts)


def _filled(paragraph: str) -> str:
    """Its lines at their width again: the numbers in it have moved them."""
    if paragraph.startswith(("#", "{")):
        return paragraph
    return fill(paragraph, width=100, break_long_words=False, break_on_hyphens=False)


def _statuses(document: dict[str, Any]) -> Iterator[str]:
    yield "| status | why |"
    yield "|---|---|"
    for name, answer in document["components"]["responses"].items():
        status = name.removeprefix("Problem")
        yield f"| {status} | {answer['description']} |"


def _requests(document: dict[str, Any]) -> Iterator[str]:
    for tag in document["tags"]:
        yield f"\n### {tag['name']}\n\n{TAGS[tag['name']]}\n"
        yield "| request | what it does | body | answer |"
        yield "|---|---|---|---|"
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if operation["tags"] == [tag["name"]]:
                    yield _request(f"{method.upper()} {path}", operation)
    yield ""


def _request(name: str, operation: dict[str, Any]) -> str:
    query = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    asked = f"<br>`?{'` `'.join(query)}`" if query else ""
    content = operation.get("requestBody", {}).get("content", {})
    body = " ".join(_linked(each["schema"]) for each in content.values())
    given = {status: each for status, each in operation["responses"].items() if "$ref" not in each}
    models = dict.fromkeys(filter(None, map(_model, given.values())))
    answer = f"{', '.join(given)} {' or '.join(models)}".strip()
    return f"| `{name}`{asked} | {operation['summary']} | {body} | {answer} |"


def _model(answer: dict[str, Any]) -> str:
    for content in answer.get("content", {}).values():
        name = _name_of(content.get("schema", {}))
        if name.startswith("Page_"):
            return f"a page of `{name.removeprefix('Page_').removesuffix('_')}`"
        if name:
            return f"`{name}`"
    return ""


def _linked(schema: dict[str, Any]) -> str:
    name = _name_of(schema)
    return f"[{name}](#{name.lower()})" if name else ""


def _name_of(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _bodies(document: dict[str, Any]) -> Iterator[str]:
    """The keys of each; a set of words stands where it is used."""
    schemas = document["components"]["schemas"]
    names = {
        _name_of(content["schema"])
        for operations in document["paths"].values()
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    }
    for name in sorted(_with_parts(schemas, names)):
        schema = schemas[name]
        if "properties" not in schema:
            continue
        yield f"\n### {name}\n"
        yield "| key | | if left out |"
        yield "|---|---|---|"
        for key, found in schema["properties"].items():
            words = schemas.get(_name_of(found), {})
            told = words if "enum" in words else found
            is_required = key in schema.get("required", ())
            left_out = "**refused**" if is_required else _default(found)
            yield f"| `{key}` | {_words(told)} | {left_out} |"


def _with_parts(schemas: dict[str, Any], names: set[str]) -> set[str]:
    """The models and those that stand in them."""
    found: set[str] = set()
    waiting = sorted(filter(None, names))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(schemas[name])
    return found


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for each in node for name in _references(each)]
    if not isinstance(node, dict):
        return []
    own = [_name_of(node)] if "$ref" in node else []
    return own + [name for each in node.values() for name in _references(each)]


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    if default is None or default in ([], {}, ""):
        return ""
    return f"`{default}`" if not isinstance(default, bool) else f"`{str(default).lower()}`"


def _words(schema: dict[str, Any]) -> str:
    """A schema in a line."""
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("description"):
        return str(schema["description"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_words(each) for each in schema["anyOf"]))
    if "$ref" in schema:
        return _linked(schema)
    if schema.get("type") == "array":
        most = f", at most {schema['maxItems']:,}" if "maxItems" in schema else ""
        return f"a list of {_words(schema['items'])}{most}"
    kinds = schema.get("type", "any JSON value")
    word = str(schema.get("format") or (" or ".join(kinds) if isinstance(kinds, list) else kinds))
    bounds = [
        f"{what} {schema[name]:,}"
        for name, what in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("maxLength", "at most"),
        )
        if name in schema
    ]
    if "maxLength" in schema:
        bounds[-1] += " characters"
    return ", ".join((word, *bounds))


if __name__ == "__main__":
    sys.stdout.write(api_reference() + "\n")
