"""The rungs that every verb of the API has to climb; a test file fills in what is its own.

A subclass is collected by its name. `prepare` makes what the verb works on; `call` sends the
verb as it should be sent, but for what a rung changes.
"""

from typing import Any, ClassVar, Final, Literal

import pytest

from ports.principals import GrantKind
from tests.support.api import OTHER, TENANT, Api, problem

Step = Literal[
    "works",
    "wrong method",
    "no token",
    "wrong grant",
    "other tenant",
    "unknown id",
    "missing field",
    "stale ETag",
    "repeated key",
    "side effects",
]
STEPS: Final[dict[Step, tuple[str, ...]]] = {
    "works": ("test_sufficient_grant_alone_works",),
    "wrong method": ("test_wrong_method_is_405_and_says_which",),
    "no token": ("test_no_token_is_401_and_reads_nothing", "test_unknown_token_is_401"),
    "wrong grant": ("test_wrong_grant_is_403_and_audited",),
    "other tenant": ("test_other_tenants_principal_is_told_nothing",),
    "unknown id": ("test_unknown_id_is_404",),
    "missing field": ("test_missing_field_is_422_and_named", "test_unknown_field_is_422_and_named"),
    "stale ETag": ("test_stale_etag_is_412_and_changes_nothing",),
    "repeated key": (
        "test_repeated_key_has_one_effect",
        "test_repeated_key_with_another_body_is_422",
    ),
    "side effects": (
        "test_side_effects_are_audit_and_event",
        "test_revision_rises_by_one_and_no_more_by_a_repeat",
    ),
}
"""The ten steps of every verb, by the tests that climb them."""

_OF_CHANGES: Final[tuple[Step, ...]] = ("stale ETag", "repeated key", "side effects")
_READS: Final = "it only reads"


class ReadLadder:
    """For what only reads. `path` holds `{tenant}` where the tenant stands."""

    method: ClassVar[str] = "GET"
    path: ClassVar[str]
    params: ClassVar[dict[str, Any]] = {}
    body: ClassVar[dict[str, Any] | None] = None
    status: ClassVar[int] = 200
    kind: ClassVar[GrantKind] = GrantKind.READ  # what it needs
    required: ClassVar[tuple[str, ...]] = ()  # keys without which the body is refused
    wrong_key: ClassVar[str] = "colour"
    wrong_method: ClassVar[str] = "PATCH"
    unknown_params: ClassVar[dict[str, Any]] = {}  # where the id stands in the query
    unknown_path: ClassVar[str | None] = None  # of an id that is not there; None where it has none
    is_platform_wide: ClassVar[bool] = False  # no tenant is named
    is_of_the_caller: ClassVar[bool] = False  # then it is of the only tenant that it may read

    @classmethod
    def reasons(cls) -> dict[Step, str]:
        """Why a step is none of this ladder's; the rest of the steps are all climbed."""
        found = dict.fromkeys(_OF_CHANGES, _READS)
        if cls.body is None:
            found["missing field"] = "it takes no body"
        elif not cls.required:
            found["missing field"] = "no key of its body has to be there"
        is_own = "test_unknown_id_is_404" in vars(cls)
        if not (is_own or cls.unknown_path or cls.unknown_params):
            found["unknown id"] = "its path names nothing"
        if len(cls.enough_of(cls.kind)) == len(GrantKind):
            found["wrong grant"] = "every grant includes read"
        return found

    def prepare(self, api: Api) -> None:
        """What the verb works on."""

    def call(self, api: Api, **changes: Any) -> Any:
        """The verb as it should be sent."""
        path = changes.pop("path", self.path)
        body = changes.pop("body", self.body)
        method = changes.pop("method", self.method)
        path = path.replace("{tenant}", TENANT)
        return api.call(method, path, body, **{**self.params, **changes})

    def test_no_token_is_401_and_reads_nothing(self, api: Api) -> None:
        self.prepare(api)
        answer = self.call(api, by=None)
        assert problem(answer) == (401, [])
        assert answer.headers["www-authenticate"] == "Bearer"

    def test_unknown_token_is_401(self, api: Api) -> None:
        self.prepare(api)
        api.tokens["stranger"] = "pun_" + "x" * 43
        assert problem(self.call(api, by="stranger")) == (401, [])

    def test_wrong_method_is_405_and_says_which(self, api: Api) -> None:
        self.prepare(api)
        answer = self.call(api, method=self.wrong_method)
        assert problem(answer)[0] == 405
        assert self.method in answer.headers["allow"]

    def test_sufficient_grant_alone_works(self, api: Api) -> None:
        self.prepare(api)
        api.principal("holder", self.kind, tenant=None if self.is_platform_wide else TENANT)
        answer = self.call(api, by="holder")
        assert answer.status_code == self.status, answer.text

    def test_wrong_grant_is_403_and_audited(self, api: Api) -> None:
        self.prepare(api)
        tenant = None if self.is_platform_wide else TENANT
        others = [kind for kind in GrantKind if kind not in self.enough()]
        for kind in others:
            api.principal(f"only-{kind}", kind, tenant=tenant)
            answer = self.call(api, by=f"only-{kind}")
            assert problem(answer) == (403, ["grant"]), f"{kind}: {answer.text}"
            assert self.kind in answer.json()["detail"]
        refused = [entry.actor for entry in api.audit("privilege_refused")]
        assert refused == [f"only-{kind}" for kind in others]

    def test_other_tenants_principal_is_told_nothing(self, api: Api) -> None:
        self.prepare(api)
        api.principal("neighbour", *GrantKind, tenant=OTHER)
        answer = self.call(api, by="neighbour")
        if self.is_of_the_caller:
            assert answer.status_code == self.status, answer.text
            assert TENANT not in answer.text
            return
        assert problem(answer)[0] == (403 if self.is_platform_wide else 404), answer.text

    def test_unknown_id_is_404(self, api: Api) -> None:
        self.prepare(api)
        path = self.unknown_path or self.path
        if path == self.path and not self.unknown_params:
            assert self.path.count("/") == 2, "name an unknown id"
            return
        answer = self.call(api, path=path, **self.unknown_params)
        assert problem(answer)[0] == 404, answer.text

    def test_missing_field_is_422_and_named(self, api: Api) -> None:
        self.prepare(api)
        for key in self.required:
            left = {name: value for name, value in (self.body or {}).items() if name != key}
            assert problem(self.call(api, body=left)) == (422, [key])

    def test_unknown_field_is_422_and_named(self, api: Api) -> None:
        self.prepare(api)
        if self.body is None:
            return
        answer = self.call(api, body={**self.body, self.wrong_key: 1})
        assert problem(answer) == (422, [self.wrong_key])
        assert "unknown key" in answer.json()["detail"]

    def enough(self) -> tuple[GrantKind, ...]:
        """Every single grant with which it works."""
        return self.enough_of(self.kind)

    @staticmethod
    def enough_of(kind: GrantKind) -> tuple[GrantKind, ...]:
        return tuple(GrantKind) if kind is GrantKind.READ else (kind,)


class WriteLadder(ReadLadder):
    """For what changes something.

    other:         changes of the body that ask for something else
    other_params:  parameters that ask for something else, where there is no body
    action:        of the audit entry that it leaves
    event:         of the outbox, where there is one
    stale:         an ETag of another revision; None where it takes none
    creates:       whether it may make what its path names, so that it takes If-None-Match
    revised:       the path of the subject, which shows its revision
    unrevised:     why no revision rises; this or `revised` has to be given
    """

    other: ClassVar[dict[str, Any]] = {}
    other_params: ClassVar[dict[str, Any]] = {}
    action: ClassVar[str]
    event: ClassVar[str | None] = None
    stale: ClassVar[str | None] = '"999"'
    creates: ClassVar[bool] = False
    revised: ClassVar[str | None] = None
    unrevised: ClassVar[str | None] = None

    @classmethod
    def reasons(cls) -> dict[Step, str]:
        found = {step: text for step, text in super().reasons().items() if text != _READS}
        if cls.stale is None:
            found["stale ETag"] = "it takes no precondition, and refuses one"
        return found

    def test_stale_etag_is_412_and_changes_nothing(self, api: Api) -> None:
        self.prepare(api)
        if self.stale is None:
            return
        before = len(api.audit())
        answer = self.call(api, headers={"If-Match": self.stale})
        assert problem(answer)[0] == 412, answer.text
        assert len(api.audit()) == before

    def test_precondition_that_it_does_not_look_at_is_400(self, api: Api) -> None:
        self.prepare(api)
        before = len(api.audit())
        if self.stale is None:
            answer = self.call(api, headers={"If-Match": '"1"'})
            assert problem(answer) == (400, ["If-Match"])
        if not self.creates:
            answer = self.call(api, headers={"If-None-Match": "*"})
            assert problem(answer) == (400, ["If-None-Match"])
        assert len(api.audit()) == before

    def test_replacing_whatever_is_there_makes_nothing(self, api: Api) -> None:
        self.prepare(api)
        if not self.creates:
            return
        before = len(api.audit())
        answer = self.call(api, headers={"If-Match": "*"})
        assert problem(answer)[0] == 412, answer.text
        assert len(api.audit()) == before

    @pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "ünique"])
    def test_key_that_cannot_be_kept_is_400(self, api: Api, key: str) -> None:
        self.prepare(api)
        before = len(api.audit())
        answer = self.call(api, headers={"Idempotency-Key": key.encode()})
        assert problem(answer) == (400, ["Idempotency-Key"])
        assert len(api.audit()) == before

    def test_repeated_key_has_one_effect(self, api: Api) -> None:
        self.prepare(api)
        events, entries = len(api.outbox()), len(api.audit(self.action))
        first = self.call(api, headers={"Idempotency-Key": "once"})
        assert first.status_code == self.status, first.text
        again = self.call(api, headers={"Idempotency-Key": "once"})
        assert again.status_code == first.status_code, again.text
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first.json()
        assert len(api.audit(self.action)) - entries == 1
        assert len(api.outbox()) - events == (1 if self.event else 0)

    def test_repeated_key_with_another_body_is_422(self, api: Api) -> None:
        assert self.other or self.other_params, "say what asks for something else"
        self.prepare(api)
        first = self.call(api, headers={"Idempotency-Key": "once"})
        assert first.is_success, first.text
        entries = len(api.audit(self.action))
        body = {**(self.body or {}), **self.other} if self.other else self.body
        answer = self.call(api, body=body, headers={"Idempotency-Key": "once"}, **self.other_params)
        assert problem(answer) == (422, ["Idempotency-Key"])
        assert len(api.audit(self.action)) == entries

    def test_repeated_key_of_another_principal_is_another_request(self, api: Api) -> None:
        self.prepare(api)
        assert self.call(api, headers={"Idempotency-Key": "once"}).is_success
        api.principal("other", *GrantKind)
        answer = self.call(api, by="other", headers={"Idempotency-Key": "once"})
        assert "idempotent-replayed" not in answer.headers, answer.text

    def test_side_effects_are_audit_and_event(self, api: Api) -> None:
        self.prepare(api)
        api.principal("doer", *GrantKind)
        events, entries = len(api.outbox()), len(api.audit(self.action))
        answer = self.call(api, by="doer")
        assert answer.status_code == self.status, answer.text
        (entry,) = api.audit(self.action)[entries:]
        assert entry.actor == "doer"
        assert entry.at_us == api.now_us
        new = [event.event for event in api.outbox()[events:]]
        assert new == ([self.event] if self.event else [])

    def revision(self, api: Api) -> int:
        """The subject's, 0 where it does not exist."""
        assert self.revised is not None
        answer = api.call("GET", self.revised.replace("{tenant}", TENANT))
        return 0 if answer.status_code == 404 else int(answer.json()["revision"])

    def test_revision_rises_by_one_and_no_more_by_a_repeat(self, api: Api) -> None:
        assert (self.revised is None) is bool(self.unrevised), "say which revision, or why none"
        if self.revised is None:
            return
        self.prepare(api)
        before = self.revision(api)
        for _ in ("first", "repeat"):
            answer = self.call(api, headers={"Idempotency-Key": "once"})
            assert answer.status_code == self.status, answer.text
            assert self.revision(api) == before + 1


__all__ = ["OTHER", "STEPS", "ReadLadder", "Step", "WriteLadder"]
