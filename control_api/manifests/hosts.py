"""Whose the hosts of targets are: what is known, and what their hosts say when they are asked."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from control_api.call import Call
from control_api.ownership_text import ownership_text, ownership_url
from control_api.problems import ApiProblem, FieldProblem
from ports.ownership import OwnershipAnswer
from ports.records import TargetRecord
from scheduling.limits import APPLY_HOSTS_ASKED_MAX
from scheduling.vocabulary import USABLE_OWNERSHIP, OwnershipState
from schemas.endpoints import is_loopback_endpoint
from schemas.origins import host_of, origin_of


class Owner(NamedTuple):
    """What a target's host counts as.

    is_usable:  whether fires may go there
    state:      to be put; the store keeps what it knows of an origin it has
    host:       to be allowed first, by an operator's word; None where that is not needed
    detail:     of a check that was made now
    """

    is_usable: bool
    state: OwnershipState = OwnershipState.PENDING
    host: str | None = None
    detail: str | None = None

    def remedy(self, tenant_id: str, url: str) -> str:
        """What makes an unusable one usable."""
        text, place = ownership_text(tenant_id, url), ownership_url(url)
        found = self.detail or f"the line {text} has to stand at {place}, as text/plain"
        return (
            f"nothing proves yet whose its host is: {found}; or let an operator vouch for the "
            "host (--allow-targets)"
        )


class Wanted(NamedTuple):
    """A target as a manifest has it; `is_needed` where a trigger is to use it from now on."""

    tenant_id: str
    name: str
    url: str
    stored: TargetRecord | None
    is_needed: bool


class Hosts:
    """Asks each origin once for each tenant, however often the plan is made anew."""

    def __init__(self, call: Call, *, allow: bool) -> None:
        self._call = call
        self._allow = allow
        self._answers: dict[str, OwnershipAnswer] = {}
        self._allowed: set[tuple[str | None, str]] = set()

    def ask(self, targets: Iterable[Wanted]) -> None:
        """Learn what `owner` needs of these. Takes up to ten seconds where hosts are asked.

        ApiProblem where they are too many, or too many others ask.
        """
        registry = self._call.services.store.registry
        self._allowed = {(each.tenant_id, each.host) for each in registry.allowed_hosts()}
        unknown: dict[str, Wanted] = {}
        for target in targets:
            text = ownership_text(target.tenant_id, target.url)
            if self._known(target) is None and text not in self._answers:
                unknown.setdefault(text, target)
        if len(unknown) > APPLY_HOSTS_ASKED_MAX:
            raise _too_many(list(unknown.values()))
        if unknown:
            check = self._call.services.ownership.check
            turn = self._call.services.host_checks.turn(
                *{each.tenant_id for each in unknown.values()}
            )
            with turn, ThreadPoolExecutor(len(unknown)) as threads:
                answers = threads.map(lambda text: check(unknown[text].url, expected=text), unknown)
                self._answers.update(zip(unknown, answers, strict=True))

    def owner(self, target: Wanted) -> Owner:
        """Of a target that was asked about."""
        known = self._known(target)
        if known is not None:
            return known
        answer = self._answers[ownership_text(target.tenant_id, target.url)]
        state = OwnershipState.PROVEN if answer.is_proven else OwnershipState.PENDING
        return Owner(answer.is_proven, state, detail=answer.detail)

    def _known(self, target: Wanted) -> Owner | None:
        """Without asking the host; None where that is to be done."""
        if self._call.services.settings.allow_loopback and is_loopback_endpoint(target.url):
            return Owner(True, OwnershipState.LOCAL)
        stored = target.stored
        is_same = stored is not None and origin_of(stored.endpoint) == origin_of(target.url)
        if stored is not None and is_same and stored.ownership in USABLE_OWNERSHIP:
            return Owner(True, stored.ownership)
        host = host_of(target.url)
        if (target.tenant_id, host) in self._allowed or (None, host) in self._allowed:
            return Owner(True)
        if self._allow:
            return Owner(True, host=host)
        if stored is not None and is_same and not target.is_needed:
            return Owner(False, stored.ownership)
        return None


def _too_many(targets: list[Wanted]) -> ApiProblem:
    first = targets[APPLY_HOSTS_ASKED_MAX]
    field = f"tenants.{first.tenant_id}.targets.{first.name}.url"
    detail = (
        f"{len(targets)} hosts would have to be asked whose they are, and at most "
        f"{APPLY_HOSTS_ASKED_MAX} are at once: apply the file in parts, or let an operator vouch "
        "for the hosts (--allow-targets)"
    )
    return ApiProblem(422, "invalid", f"{field}: {detail}", fields=[FieldProblem(field, detail)])
