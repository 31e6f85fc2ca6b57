"""One call of the API: who asks, under which conditions, and the way to the change transaction."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from control_api.problems import ApiProblem, FieldProblem, no_tenant
from control_api.services import Services
from ports.authenticator import Principal
from ports.changes import Change, ChangeResult, IdempotentRequest
from ports.principals import GrantKind
from ports.records import AuditRecord
from schemas.manifest_fields import name_problem

ETAG_PATTERN: Final = r'"(?:([tc][0-9a-f]{1,64})[.])?([0-9]{1,12})"'
_ETAG: Final = re.compile(ETAG_PATTERN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What the caller expects to replace.

    revision:  exactly this one
    mark:      of exactly this creation, since a re-created name is another thing
    anything:  `If-Match: *`, whatever is there
    nothing:   `If-None-Match: *`, there must be nothing
    """

    revision: int | None = None
    mark: str | None = None
    anything: bool = False
    nothing: bool = False

    @property
    def is_given(self) -> bool:
        return self.revision is not None or self.anything or self.nothing


@dataclass(slots=True)
class Progress:
    """How far a call has come: whether a change of it is on the disk."""

    is_made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request whose caller is proven. `request` makes its change repeatable."""

    services: Services
    principal: Principal
    match: Match = Match()
    request: IdempotentRequest | None = None
    progress: Progress = field(default_factory=Progress)

    @property
    def expected_revision(self) -> int | None:
        """For a change of something that exists."""
        return 0 if self.match.nothing else self.match.revision

    def require(self, kind: GrantKind, tenant_id: str | None, *, act: str) -> None:
        """Refuse without the grant: 404 where even reading is none of the caller's business."""
        if not self.principal.holds(kind, tenant_id):
            self.refuse(kind, tenant_id, act=act)

    def require_any(self, kinds: Sequence[GrantKind], tenant_id: str | None, *, act: str) -> None:
        """Like `require`, where one grant of several is enough; the first is named."""
        if not any(self.principal.holds(kind, tenant_id) for kind in kinds):
            self.require(kinds[0], tenant_id, act=act)

    def refuse(self, kind: GrantKind, tenant_id: str | None, *, act: str) -> NoReturn:
        """Refuse a privilege, and leave an audit entry of it.

        Whoever may not read the tenant is told, as fast and in the same words, what is told of one
        that does not exist.
        """
        where = "the platform" if tenant_id is None else f"tenant {tenant_id}"
        is_name = tenant_id is None or name_problem(tenant_id) is None
        self.services.store.audit.append(
            AuditRecord(
                self.services.clock.now().wall_us,
                self.principal.principal_id,
                "privilege_refused",
                tenant_id if is_name else None,
                act,
                note=f"needs {kind.value} on {where if is_name else 'what is no tenant'}",
            )
        )
        if tenant_id is not None and not self.principal.holds(GrantKind.READ, tenant_id):
            raise no_tenant(tenant_id, is_refusal=True)
        detail = f"to {act} needs the grant {kind.value} on {where}: ask an operator for it"
        fields = [FieldProblem("grant", detail)]
        raise ApiProblem(403, "grant_missing", detail, fields=fields, is_refusal=True)

    def tell_audit(self, action: str, tenant_id: str, subject: str) -> None:
        """An entry of a privileged act that changes nothing in the store."""
        entry = AuditRecord(
            self.services.clock.now().wall_us,
            self.principal.principal_id,
            action,
            tenant_id,
            subject,
        )
        self.services.store.audit.append(entry)

    def now_us(self) -> int:
        """For reads: the clock's earliest."""
        return self.services.clock.now().earliest_us

    def apply(self, *changes: Change, dry_run: bool = False) -> list[ChangeResult]:
        """The changes as one transaction. Raises ChangeRefused and the store's errors."""
        results = self.services.store.registry.apply(
            changes,
            now_us=self.services.gate.now_us(),
            actor=self.principal.principal_id,
            dry_run=dry_run,
            request=None if dry_run else self.request,
        )
        self.progress.is_made = self.progress.is_made or not dry_run
        return results

    def earlier(self) -> list[ChangeResult]:
        """What this very request brought before, to be told again whatever is there by now.

        Empty for a new one. To be asked after the grants, and before anything that may have changed
        since. ChangeRefused where its key came with another request.
        """
        if self.request is None:
            return []
        return self.services.store.registry.apply(
            (),
            now_us=self.services.gate.now_us(),
            actor=self.principal.principal_id,
            request=self.request,
        )


def read_match(if_match: str | None, if_none_match: str | None) -> Match:
    """The headers' meaning. ApiProblem for what is no strong ETag of ours."""
    if if_none_match is not None:
        if if_none_match.strip() != "*" or if_match is not None:
            detail = "If-None-Match: send `*` alone, to create only"
            raise ApiProblem(
                400, "bad_precondition", detail, fields=[FieldProblem("If-None-Match", detail)]
            )
        return Match(nothing=True)
    if if_match is None:
        return Match()
    if if_match.strip() == "*":
        return Match(anything=True)
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        detail = "If-Match: send the ETag of the last answer as it came, or `*`"
        raise ApiProblem(400, "bad_precondition", detail, fields=[FieldProblem("If-Match", detail)])
    return Match(revision=int(found[2]), mark=found[1])
