"""Turns for what asks hosts whose they are.

A host may take ten seconds to answer, on one of the threads that serve the whole API: so few ask
at once, of one tenant fewer, and whoever comes beyond is told to come again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from control_api.problems import ApiProblem
from ports.ownership import OwnershipAnswer, OwnershipPort
from scheduling.limits import HOST_CHECKS_MAX, HOST_CHECKS_OF_TENANT_MAX


class HostChecks:
    """The turns of one process; an apply has one for all the hosts that it asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asking: list[frozenset[str]] = []

    @contextmanager
    def turn(self, *tenant_ids: str) -> Iterator[None]:
        """A turn of these tenants. ApiProblem 429 at once where none is free."""
        taken = frozenset(tenant_ids)
        with self._lock:
            if not self._is_free(taken):
                raise _busy()
            self._asking.append(taken)
        try:
            yield
        finally:
            with self._lock:
                self._asking.remove(taken)

    def asker(self, ownership: OwnershipPort, tenant_id: str) -> OwnershipPort:
        """The port, each of whose checks takes a turn of the tenant."""
        return _InTurn(self, ownership, tenant_id)

    def _is_free(self, tenant_ids: frozenset[str]) -> bool:
        if len(self._asking) >= HOST_CHECKS_MAX:
            return False
        return all(
            sum(each in asking for asking in self._asking) < HOST_CHECKS_OF_TENANT_MAX
            for each in tenant_ids
        )


class _InTurn(OwnershipPort):
    def __init__(self, turns: HostChecks, ownership: OwnershipPort, tenant_id: str) -> None:
        self._turns = turns
        self._ownership = ownership
        self._tenant_id = tenant_id

    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        with self._turns.turn(self._tenant_id):
            return self._ownership.check(endpoint, expected=expected)


def _busy() -> ApiProblem:
    detail = "other targets' hosts are being asked whose they are: try again in some seconds"
    return ApiProblem(429, "busy", detail, headers={"Retry-After": "5"})
