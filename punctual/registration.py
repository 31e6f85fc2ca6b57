"""Which server's word stands in a data folder: of those that serve the whole API, one that lives.

The word that stands is left alone while its server proves itself. Every server looks again and
again, so that one which stays takes the place of one that ended, however it ended.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from ports import log_actions as log
from punctual.local_files import ToldServer, forget_server, tell_server, told_server
from punctual.transports import NoAnswer, is_served_by

LOOK_EVERY_S: Final = 2.0
SILENT_LOOKS_MAX: Final = 3  # one that is slow for a moment keeps its place


class Registration:
    """Holds the place, or waits for it, on a daemon thread inside the `with` block.

    Enter it once the server answers: what stands may name its very port, from an earlier process.
    """

    def __init__(
        self,
        folder: Path,
        told: ToldServer,
        *,
        every_s: float = LOOK_EVERY_S,
        ask: Callable[[ToldServer], bool] = is_served_by,
    ) -> None:
        self._folder = folder
        self._told = told
        self._every_s = every_s
        self._ask = ask
        self._silent: tuple[ToldServer, int] | None = None
        self._has_failed = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="registration", daemon=True)

    def __enter__(self) -> Self:
        self.look()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take this server's word back; a look under way ends first, in its second."""
        self._stopping.set()
        self._thread.join()
        forget_server(self._folder, self._told)

    def look(self) -> bool:
        """Take the place if nobody who lives has it; whether this server has it now."""
        standing = told_server(self._folder)
        if standing == self._told:
            return True
        if standing is not None and self._is_living(standing):
            return False
        try:
            tell_server(self._folder, self._told)
        except OSError as error:
            self._tell_failure(error)
            return False
        self._has_failed = False
        log.info("server_registered", url=self._told.url)
        return True

    def _is_living(self, standing: ToldServer) -> bool:
        """Nobody on the port, or somebody else, is an end; silence becomes one after some looks."""
        try:
            is_living = self._ask(standing)
        except NoAnswer as lost:
            if isinstance(lost.__cause__, ConnectionRefusedError):
                return False
            known, looks = self._silent or (standing, 0)
            self._silent = standing, looks + 1 if known == standing else 1
            return self._silent[1] < SILENT_LOOKS_MAX
        self._silent = None
        return is_living

    def _tell_failure(self, error: OSError) -> None:
        """Once, not at every look: commands then bring the API along, and the service goes on."""
        if not self._has_failed:
            log.warning("server_registration_failed", error=str(error))
        self._has_failed = True

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            try:
                self.look()
            except Exception as error:
                # A fault here costs the commands a way to the API, and must not end the looks.
                log.error("server_registration_failed", error=repr(error))
