"""Which fires a command line asks for, in the words of the API."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from control_api.answers.zone_times import instant_json, read_bound
from punctual.commands.common import Refusal, now_us
from punctual.commands.naming import split_name
from punctual.commands.reading import read_trigger

if TYPE_CHECKING:
    from punctual.client import ApiClient

_WHOSE: Final = frozenset({"tenant", "trigger", "expand"})


class FireFilter(NamedTuple):
    """The parameters of a list of fires; `zone` is the one in which local times were read."""

    params: dict[str, Any]
    zone: str

    @property
    def tenant(self) -> str | None:
        tenant: str | None = self.params["tenant"]
        return tenant

    @property
    def is_one_trigger(self) -> bool:
        return self.params["trigger"] is not None

    @property
    def is_narrow(self) -> bool:
        """Whether there may be fires that it leaves out."""
        return any(value for key, value in self.params.items() if key not in _WHOSE)


def fire_filter(
    client: "ApiClient",
    trigger: str | None,
    *,
    tenant: str | None,
    window: tuple[str | None, str | None] = (None, None),
    **params: Any,
) -> FireFilter:
    """Of one trigger, whose zone its local times are in; else of a tenant, or of all, in UTC.

    A deleted trigger has TENANT/ID. Refusal says what there is instead.
    """
    zone, name = "UTC", None
    if trigger is not None:
        tenant, name, zone = _located(client, trigger, tenant)
    since, through = read_window(*window, zone=zone)
    return FireFilter(
        {"tenant": tenant, "trigger": name, "since": since, "through": through, **params}, zone
    )


def read_window(
    from_text: str | None, to_text: str | None, *, zone: str
) -> tuple[str | None, str | None]:
    """What --from and --to mean, as the API takes it. Refusal says what to write."""
    at_us = now_us()
    from_us = through_us = None
    try:
        if from_text is not None:
            from_us = read_bound(from_text, zone, field="--from", now_us=at_us)
        if to_text is not None:
            through_us = read_bound(to_text, zone, field="--to", now_us=at_us, is_end=True)
    except ValueError as error:
        raise Refusal(str(error)) from None
    if from_us is not None and through_us is not None and through_us < from_us:
        raise Refusal("--to: lies before --from: exchange them")
    return instant_json(from_us), instant_json(through_us)


def _located(client: "ApiClient", text: str, tenant: str | None) -> tuple[str, str, str]:
    """(tenant, name or id, zone); a trigger that is gone still has its newest fire's zone."""
    wanted, name = split_name(text, tenant)
    try:
        found = read_trigger(client, text, tenant)
    except Refusal:
        if wanted is None:
            raise
        gone = _fires_of_gone(client, wanted, name)
        if not gone:
            raise
        return wanted, name, gone[0]["zone"]
    return found["tenant"], found["name"], found["definition"]["zone"]


def _fires_of_gone(client: "ApiClient", tenant: str, name: str) -> list[Any]:
    from punctual.client import ApiError

    try:
        found: list[Any] = client.get("/v1/fires", tenant=tenant, trigger=name, limit=1)["items"]
    except ApiError:
        return []
    return found
