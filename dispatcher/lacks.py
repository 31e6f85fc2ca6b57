"""What this process lacked of late: counted, told now and then, and a rest from taking more.

It rests only from what every attempt needs. Name servers that are away, or ports that are used up
towards one address, leave the other targets well.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from dispatcher.http_delivery import DeliveryResult
from ports import log_actions as log
from ports import metrics

REST_S: Final = 1.0  # for what is under way to give back what it holds
RESTED_FROM: Final = frozenset({"files", "memory", "threads"})
TOLD_EVERY_S: Final = 10.0  # thousands of fires may meet one lack


class Lacks:
    """`clock` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._untold: Counter[str] = Counter()
        self._told_at_s = self._rested_from_s = -TOLD_EVERY_S

    def note(self, result: DeliveryResult) -> None:
        """An attempt that could not be made; its fire is put back."""
        lack = result.lack or "unknown"
        metrics.count("punctual_attempts_put_back_total", lack=lack)
        self._untold[lack] += 1
        now_s = self._clock()
        if lack in RESTED_FROM:
            self._rested_from_s = now_s
        if now_s - self._told_at_s >= TOLD_EVERY_S:
            log.warning("attempts_put_back", error=result.error, lacks=dict(self._untold))
            self._untold.clear()
            self._told_at_s = now_s

    def rest_s(self) -> float:
        """How long to take nothing from the lanes."""
        return self._rested_from_s + REST_S - self._clock()
