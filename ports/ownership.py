"""The ownership port: whether a host belongs to the tenant that points a target at it."""

from abc import ABC, abstractmethod
from typing import NamedTuple


class OwnershipAnswer(NamedTuple):
    """`detail` says what was found and what to do, for the target's author."""

    is_proven: bool
    detail: str


class OwnershipPort(ABC):
    """Asks the host itself, through the same guard as every dispatch."""

    @abstractmethod
    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        """Fetch the well-known document of the endpoint's host and look for the expected text.

        Bounded in time and bytes; follows no redirect; never raises for what the host does.
        """
