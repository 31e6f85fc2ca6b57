"""Ids are derived, never drawn: the same facts give the same id in every process."""

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from scheduling.limits import PARTITIONS

_KEY = re.compile(
    r"(?P<tenant>[^~\s]+)~(?P<trigger>[^~\s]+)"
    r"~(?P<instant>0|-?[1-9][0-9]{0,17})~(?P<seq>0|[1-9][0-9]{0,8})"  # one text for one key
)


class FireKey(NamedTuple):
    """The ledger's primary key and the idempotency key of everything downstream.

    Sequence 0 belongs to the live schedule and its gap planner; a backfill and a manual run
    take a number of at least 1 from the tenant's counter.
    """

    tenant_id: str
    trigger_id: str
    scheduled_us: int
    sequence: int = 0

    def __str__(self) -> str:
        return f"{self.tenant_id}~{self.trigger_id}~{self.scheduled_us}~{self.sequence}"

    @classmethod
    def parse(cls, text: str) -> "FireKey":
        """The key of its text form; ValueError says what the form is."""
        match = _KEY.fullmatch(text)
        if match is None:
            raise ValueError(f"fire_key: {text[:40]!r} is not tenant~trigger~microseconds~sequence")
        return cls(match["tenant"], match["trigger"], int(match["instant"]), int(match["seq"]))


def trigger_id_of(tenant_id: str, name: str, *, generation: int) -> str:
    """The id of the n-th trigger of that name: a re-created name is a new trigger.

    The hash begins with the partition, so that in every table that is keyed by trigger the rows
    of one partition lie side by side: a commit of a partition touches few pages.
    """
    return "t" + _digest(f"{tenant_id}\0{name}\0{generation}", 10).hex()


def partition_of(trigger_id: str) -> int:
    """The partition, 0 to 255, that decides a trigger: the first byte of its id's hash."""
    return int(trigger_id[1:3], 16) % PARTITIONS


def partition_ranges(ascending: Iterable[int], *, separator: str = ",") -> str:
    """How partitions are told: `0-127,130` for 0 to 127 and 130."""
    runs: list[list[int]] = []
    for number in ascending:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return separator.join(f"{low}-{high}" if low < high else str(low) for low, high in runs)


def trace_parent_of(key: FireKey) -> str:
    """A W3C traceparent derived from the fire key, so that every repeat carries the same trace."""
    digest = _digest(str(key), 24)
    return f"00-{digest[:16].hex()}-{digest[16:].hex()}-01"


def attempt_seed(key: FireKey, n: int) -> int:
    """The seed of attempt n's backoff: stable for a fire, different from fire to fire."""
    return int.from_bytes(_digest(f"{key}\0{n}", 8), "big")


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode(), digest_size=size).digest()
