"""Which subjects of the manifests an apply may touch."""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from control_api.problems import ApiProblem, FieldProblem

_ALL: Final = "*"
_HOW_TO_WRITE: Final = "write TENANT/NAME, where * and ? stand for anything, as in acme/nightly-*"


class Selector(NamedTuple):
    text: str
    tenant: str
    name: str


class Selection:
    """Everything, or what one of the selectors names. Remembers which of them took something."""

    def __init__(self, texts: list[str]) -> None:
        """ApiProblem for what is no selector."""
        self._selectors = [_read(text) for text in texts]
        self._used: set[str] = set()

    def takes(self, tenant_id: str, name: str) -> bool:
        """Whether a trigger, target or calendar of that name may be touched."""
        found = [
            each
            for each in self._selectors
            if fnmatchcase(tenant_id, each.tenant) and fnmatchcase(name, each.name)
        ]
        self._used.update(each.text for each in found)
        return bool(found) or not self._selectors

    def takes_some(self, tenant_id: str) -> bool:
        """Whether anything of the tenant may be."""
        return not self._selectors or any(
            fnmatchcase(tenant_id, each.tenant) for each in self._selectors
        )

    def takes_whole(self, tenant_id: str) -> bool:
        """Whether all of the tenant may be, its quotas included."""
        return not self._selectors or any(
            fnmatchcase(tenant_id, each.tenant) and each.name == _ALL for each in self._selectors
        )

    def check_used(self) -> None:
        """ApiProblem for selectors that took nothing: a slip would look like a success."""
        idle = [each.text for each in self._selectors if each.text not in self._used]
        if idle:
            raise _refused(f"{', '.join(map(repr, idle))}: the manifests have nothing like it")


def _read(text: str) -> Selector:
    tenant, slash, name = text.partition("/")
    if not slash or not tenant or not name:
        raise _refused(f"{text!r}: {_HOW_TO_WRITE}")
    return Selector(text, tenant, name)


def _refused(detail: str) -> ApiProblem:
    return ApiProblem(422, "invalid", f"only: {detail}", fields=[FieldProblem("only", detail)])
