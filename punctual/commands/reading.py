"""Asking the API for things and lists, with a remedy where it refuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from punctual.commands.common import Refusal, or_words
from punctual.commands.naming import (
    check_tenant,
    find_trigger,
    path_of,
    split_name,
    tenant_names,
)

if TYPE_CHECKING:
    from punctual.client import ApiClient

PAGE_ROWS: Final = 500


class Part(NamedTuple):
    """Some rows of a list, and whether they are its last."""

    rows: list[Any]
    is_last: bool


def parts_of(
    client: "ApiClient", path: str, *, limit: int, params: dict[str, Any]
) -> Iterator[Part]:
    """A list as it comes, `limit` rows at most. A part may be empty and not the last."""
    cursor = None
    while limit > 0:
        wanted = min(PAGE_ROWS, limit)
        page = client.get(path, **params, cursor=cursor, limit=wanted)
        rows, cursor = page["items"], page["cursor"]
        limit -= len(rows)
        yield Part(rows, is_last=cursor is None or limit <= 0)
        if cursor is None:
            return


@contextmanager
def scoped(client: "ApiClient", tenant: str | None) -> Iterator[None]:
    """Refusals inside the block say which tenants there are, where that is what is wrong."""
    from punctual.client import ApiError

    try:
        yield
    except ApiError as error:
        if error.status == 404:
            check_tenant(client, tenant)
        if error.status == 403 and tenant is None and "grant" in error.fields:
            names = tenant_names(client)
            if len(names) > 1:
                told = f"--tenant: not all tenants are yours to read: name one of {or_words(names)}"
                raise Refusal(told) from error
        raise


def sole_tenant(client: "ApiClient", tenant: str | None) -> str:
    """The tenant that was named, or the only one there is. Refusal names them where several are."""
    if tenant is not None:
        return tenant
    names = tenant_names(client)
    if len(names) == 1:
        return names[0]
    if not names:
        raise Refusal("--tenant: there are no tenants yet; `punctual tenants put` makes one")
    raise Refusal(f"--tenant: there are several: name one of {or_words(names)}")


def read_trigger(
    client: "ApiClient", text: str, tenant: str | None, *steps: str, **params: Any
) -> Any:
    """What the API answers under a trigger's path; a deleted one has TENANT/ID.

    Refusal says what there is instead.
    """
    from punctual.client import ApiError

    wanted, name = split_name(text, tenant)
    if wanted is None:
        found = find_trigger(client, text)
        wanted, name = found.tenant, found.name
    try:
        return client.get(path_of("tenants", wanted, "triggers", name, *steps), **params)
    except ApiError as error:
        if error.status == 404:
            find_trigger(client, text, tenant)
        raise
