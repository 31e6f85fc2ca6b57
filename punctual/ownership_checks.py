"""The hourly look for targets whose hosts are to be asked again whose they are."""

import threading
from typing import Final

from control_api.ownership import recheck_all
from control_api.services import Services
from ports import log_actions as log
from ports.errors import PortError
from scheduling.limits import OWNERSHIP_CHECK_S_MAX

ACTOR: Final = "ownership-checks"
EVERY_S: Final = 3_600.0


class OwnershipChecks:
    """On a daemon thread inside the `with` block; several processes may look at one store."""

    def __init__(self, services: Services, *, every_s: float = EVERY_S) -> None:
        self._services = services
        self._every_s = every_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ownership", daemon=True)

    def __enter__(self) -> "OwnershipChecks":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """A check under way ends in its time; the rest is due at the next look."""
        self._stopping.set()
        self._thread.join(OWNERSHIP_CHECK_S_MAX + 1)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._look()
            except PortError as error:
                log.warning("store_unavailable", error=str(error))
            except Exception as error:
                # Targets stay as they are until the next look; the API goes on.
                log.error("ownership_check_failed", error=repr(error))
            self._stopping.wait(self._every_s)

    def _look(self) -> None:
        services = self._services
        checked = recheck_all(
            services.store.registry,
            services.ownership,
            now_us=services.gate.now_us(),
            actor=ACTOR,
            should_stop=self._stopping.is_set,
        )
        for each in checked:
            log.info(
                "ownership_checked",
                tenant_id=each.tenant_id,
                target_id=each.target_id,
                ownership=each.ownership.value,
                detail=each.detail,
            )
