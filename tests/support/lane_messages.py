"""Lane messages for suites, and a worker that drains lanes in a process of its own."""

from collections.abc import Callable

from ports.lanes import Delivered, LanesPort
from ports.records import LaneMessage
from scheduling.keys import FireKey
from scheduling.vocabulary import Lane

ON_TIME = (Lane.ON_TIME,)
LEASE_US = 30_000_000


def a_message(
    trigger_id: str = "t1", instant: int = 1, *, lane: Lane = Lane.ON_TIME, n: int = 1
) -> LaneMessage:
    return LaneMessage(FireKey("acme", trigger_id, instant), lane, n)


def pull(
    lanes: LanesPort, *wanted: Lane, at_us: int = 0, limit: int = 100, lease_us: int = LEASE_US
) -> list[Delivered]:
    return lanes.pull(wanted or ON_TIME, limit=limit, now_us=at_us, lease_us=lease_us)


def messages_of(delivered: list[Delivered]) -> list[LaneMessage]:
    return [each.message for each in delivered]


def drain(opener: Callable[[], LanesPort]) -> list[LaneMessage]:
    """Pull and acknowledge until the lanes are empty. A lease never ends meanwhile."""
    lanes = opener()
    got: list[LaneMessage] = []
    while sum(lanes.depth().values()):
        delivered = pull(lanes, limit=3)
        got += messages_of(delivered)
        lanes.ack([each.handle for each in delivered])
    return got
