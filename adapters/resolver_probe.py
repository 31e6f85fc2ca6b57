"""Whether this machine's name servers answer at all, whatever they say.

No name under `invalid` exists (RFC 6761, section 6.4), and a name server that works says so at
once. So a lookup that fails for now is the machine's own fault when this one is not answered
either, and else that of the domain, whose own name servers may be away.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from scheduling.limits import DNS_PROBE_EVERY_S, DNS_PROBE_S_MAX

PROBED_NAME: Final = "punctual-probe.invalid."  # with its dot: no search domain is tried
LookUp = Callable[..., list[Any]]


class ResolverProbe:
    """Asks on a thread of its own, for all who want to know together, every few seconds at most."""

    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="punctual-dns-probe")
        self._lock = threading.Lock()
        self._asked: Future[bool] | None = None
        self._asked_at_s = 0.0

    async def is_answered(self) -> bool:
        """False also while no answer comes for two seconds."""
        try:
            asked = asyncio.wrap_future(self._ask())
            async with asyncio.timeout(DNS_PROBE_S_MAX):
                return await asyncio.shield(asked)
        except (TimeoutError, RuntimeError):
            return False

    def close(self) -> None:
        """Ask no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self) -> "Future[bool]":
        with self._lock:
            now_s = time.monotonic()
            asked = self._asked
            is_old = now_s - self._asked_at_s > DNS_PROBE_EVERY_S
            if asked is None or (asked.done() and is_old):
                asked = self._asked = self._threads.submit(self._is_answered)
                self._asked_at_s = now_s
            return asked

    def _is_answered(self) -> bool:
        try:
            self._look_up(PROBED_NAME, 0, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            return error.errno not in (socket.EAI_AGAIN, socket.EAI_SYSTEM)
        except OSError:
            return False
        return True
