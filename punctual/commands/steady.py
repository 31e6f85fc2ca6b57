"""Asking again and again, through restarts of the service."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from punctual.commands.common import connected
from punctual.saying import hint

if TYPE_CHECKING:
    from punctual.client import ApiClient

POLL_S: Final = 0.5
_RETRY_S: Final = 1.0


class SteadyReader:
    """Reads from whoever serves at the time; says once when nobody does, and when it goes on."""

    def __init__(
        self,
        client: "ApiClient",
        reconnect: Callable[[], "ApiClient | None"],
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`reconnect` gives a client of a service that has started since, if there is one."""
        self.client = client
        self._reconnect = reconnect
        self._sleep = sleep
        self._later = ExitStack()

    def close(self) -> None:
        self._later.close()

    def get(self, path: str, **params: Any) -> Any:
        """The body of an answer, however long it takes. ApiError for a refusal that will stay."""
        is_lost = False
        while True:
            try:
                body = self.client.get(path, **params)
            except Exception as error:
                if not _may_pass(error):
                    raise
                if not is_lost:
                    hint(f"({error}; waiting)")
                is_lost = True
                self._sleep(_RETRY_S)
                self._renew()
            else:
                if is_lost:
                    hint("(it answers again)")
                return body

    def _renew(self) -> None:
        found = self._reconnect()
        if found is not None:
            self._later.close()
            self.client = self._later.enter_context(found)


@contextmanager
def steady_reader(data: Path, server: str | None) -> Iterator[SteadyReader]:
    """A reader of the API until the block ends; Ctrl-C ends the block quietly."""
    with suppress(KeyboardInterrupt), connected(data, server) as client:
        from punctual.client import connect_running

        reader = SteadyReader(client, lambda: connect_running(data, server=server, token=None))
        try:
            yield reader
        finally:
            reader.close()


def _may_pass(error: Exception) -> bool:
    from ports.errors import StoreRefused
    from punctual.client import ApiError

    return isinstance(error, StoreRefused) or (isinstance(error, ApiError) and error.status == 503)
