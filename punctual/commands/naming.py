"""From what a person calls a thing to the thing, asked of the API."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from punctual.commands.common import Refusal, or_words, suggestion

if TYPE_CHECKING:
    from punctual.client import ApiClient, Found

_NAMES_SEARCHED_MAX: Final = 1_000  # for a suggestion; more names are not looked through
_GLOB: Final = frozenset("*?[")


class Named(NamedTuple):
    """A trigger or target as the API shows it."""

    tenant: str
    name: str
    body: Any

    @property
    def shown(self) -> str:
        """TENANT/NAME."""
        return f"{self.tenant}/{self.name}"

    @property
    def etag(self) -> str:
        """Of a trigger as it was shown: in a list no header says it."""
        return f'"{self.body["trigger_id"]}.{self.body["revision"]}"'


def path_of(*steps: str) -> str:
    """A path under /v1 of steps that may hold anything."""
    return "/v1/" + "/".join(quote(step, safe="") for step in steps)


def trigger_path(trigger: Named) -> str:
    return path_of("tenants", trigger.tenant, "triggers", trigger.name)


def read_or_none(client: "ApiClient", path: str) -> "Found | None":
    """What is there, with its ETag; None where nothing is."""
    from punctual.client import ApiError

    try:
        return client.read(path)
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def find_trigger(client: "ApiClient", text: str, tenant: str | None = None) -> Named:
    """The one trigger of a NAME, a TENANT/NAME or an id; Refusal says what there is instead."""
    tenant, name = split_name(text, tenant)
    found = [_trigger(each) for each in _bearing(client, name, tenant)]
    named = [each for each in found if each.name == name] or found
    if len(named) == 1:
        return named[0]
    if named:
        names = or_words(sorted(each.shown for each in named))
        raise Refusal(f"trigger: {name!r} is the name of several: {names}; name one")
    raise Refusal(_unknown_trigger(client, text, tenant))


def select_triggers(
    client: "ApiClient", words: Iterable[str], tenant: str | None = None
) -> list[Named]:
    """Every trigger that a word names or that its pattern fits, once, in the words' order.

    A pattern has `*`, `?` or `[...]` in it, as in `acme/report-*`. Refusal where one fits nothing.
    """
    found: dict[tuple[str, str], Named] = {}
    for word in words:
        if not is_pattern(word):
            fitting = [find_trigger(client, word, tenant)]
        elif not (fitting := list(_fitting(client, word, tenant))):
            raise Refusal(f"trigger: no trigger fits {word!r}; see `punctual triggers`")
        found |= {(each.tenant, each.name): each for each in fitting}
    return list(found.values())


def is_pattern(word: str) -> bool:
    """Whether it may mean several; no name holds any of these characters."""
    return not _GLOB.isdisjoint(word)


def check_tenant(client: "ApiClient", tenant: str | None, *, field: str = "--tenant") -> None:
    """Refusal for a tenant that there is not; an empty list would look like an answer."""
    if tenant is None:
        return
    known = tenant_names(client)
    if tenant not in known:
        raise Refusal(f"{field}: there is no tenant {tenant!r}{suggestion(tenant, known)}")


def tenant_names(client: "ApiClient") -> list[str]:
    """The tenants that the caller may read."""
    return [each["tenant"] for each in client.pages("/v1/tenants")]


def members_of(
    client: "ApiClient", kind: str, tenant: str | None, *, limit: int | None = None
) -> Iterator[Named]:
    """The targets or calendars of a tenant, or of every one that the caller may read."""
    left = limit
    for one in [tenant] if tenant else tenant_names(client):
        for body in client.pages(path_of("tenants", one, kind), limit=left):
            left = None if left is None else left - 1
            yield Named(body["tenant"], body["name"], body)
        if left == 0:
            return


def find_target(client: "ApiClient", text: str) -> Named:
    """The target of a TENANT/TARGET, or of a name that only one tenant has."""
    tenant, slash, _ = text.rpartition("/")
    is_named = slash and tenant in tenant_names(client)
    known = list(members_of(client, "targets", tenant if is_named else None))
    fitting = [each for each in known if text in (each.shown, each.name)]
    if len(fitting) == 1:
        return fitting[0]
    names = [each.shown for each in fitting or known]
    if fitting:
        raise Refusal(f"target: {text!r} is the name of several: {', '.join(names)}; name one")
    raise Refusal(f"target: no {text!r}{suggestion(text, names)}")


def split_name(text: str, tenant: str | None) -> tuple[str | None, str]:
    """(tenant, name) of a NAME or TENANT/NAME beside a --tenant that may not contradict it."""
    before, slash, name = text.rpartition("/")
    if slash and tenant not in (None, before):
        raise Refusal(f"--tenant: {tenant} contradicts {text}; leave one of them out")
    return (before if slash else tenant), name


def _bearing(client: "ApiClient", name: str, tenant: str | None) -> list[Any]:
    """What bears a name or id. A tenant that is not there bears nothing."""
    from punctual.client import ApiError

    try:
        return list(client.get("/v1/triggers", tenant=tenant, name=name)["items"])
    except ApiError as error:
        if error.status == 404:
            return []
        raise


def _trigger(body: Any) -> Named:
    return Named(body["tenant"], body["name"], body)


def _fitting(client: "ApiClient", pattern: str, tenant: str | None) -> Iterator[Named]:
    wanted, name = split_name(pattern, tenant)
    for each in tenant_names(client):
        if wanted is None or fnmatchcase(each, wanted):
            for body in client.pages("/v1/triggers", tenant=each):
                if fnmatchcase(body["name"], name):
                    yield _trigger(body)


def _unknown_trigger(client: "ApiClient", text: str, tenant: str | None) -> str:
    tenants = tenant_names(client)
    if tenant is not None and tenant not in tenants:
        return f"tenant: there is no tenant {tenant!r}{suggestion(tenant, tenants)}"
    known = list(_known(client, tenants if tenant is None else [tenant]))
    if not known:
        whose = "no triggers yet" if tenant is None else f"no triggers of {tenant}"
        return f"trigger: there are {whose}; add some with `punctual apply -f FILE`"
    names = [each.shown if "/" in text else each.name for each in known]
    return f"trigger: no {text!r}{suggestion(text, names)}"


def _known(client: "ApiClient", tenants: Iterable[str]) -> Iterator[Named]:
    left = _NAMES_SEARCHED_MAX
    for tenant in tenants:
        if left <= 0:
            return
        for body in client.pages("/v1/triggers", tenant=tenant, limit=left):
            left -= 1
            yield _trigger(body)
