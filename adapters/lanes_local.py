"""The lanes port on a table of the store's file, for dispatchers of the same machine.

Open its database with synchronous=NORMAL: the sweep publishes again what a power cut took.
Of each trigger only the head of its queue on a lane can be delivered, and it stays the head
while it is out; so order needs no search at a pull, however long a queue is.
"""

import json
import threading
from collections.abc import Collection, Sequence

from adapters.sqlite_database import SqliteDatabase
from ports.lanes import Delivered, LanesPort
from ports.records import LaneMessage
from scheduling.keys import FireKey
from scheduling.vocabulary import Lane


class LocalLanes(LanesPort):
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._news = threading.Condition()
        self._news_count = 0
        self._seen = threading.local()  # how much of it each waiting thread knows

    def publish(self, messages: Sequence[LaneMessage]) -> None:
        if not messages:
            return
        rows = [
            {
                "lane": message.lane.value,
                "tenant_id": message.key.tenant_id,
                "trigger_id": message.key.trigger_id,
                "scheduled_us": message.key.scheduled_us,
                "sequence": message.key.sequence,
                "n": message.n,
            }
            for message in messages
        ]
        with self._database.write() as connection:
            added = connection.executemany(self._database.sql["lane_publish"], rows).rowcount
        if added:
            self._announce()

    def pull(
        self,
        lanes: Sequence[Lane],
        *,
        limit: int,
        now_us: int,
        lease_us: int,
        without: Collection[str] = (),
    ) -> list[Delivered]:
        passed_over = json.dumps(sorted(without))
        if not self._has_deliverable(lanes, now_us, passed_over):
            return []
        delivered: list[Delivered] = []
        lease = {
            "now_us": now_us,
            "leased_until_us": now_us + lease_us,
            "without": passed_over,
        }
        with self._database.write() as connection:
            for lane in lanes:
                if len(delivered) >= limit:
                    break
                request = lease | {"lane": lane.value, "row_limit": limit - len(delivered)}
                rows = connection.execute(self._database.sql["lane_lease"], request).fetchall()
                # RETURNING promises no order.
                delivered += (_delivered(lane, row) for row in sorted(rows))
        return delivered

    def ack(self, handles: Sequence[int | str]) -> None:
        message_ids = [handle for handle in handles if isinstance(handle, int)]
        if not message_ids:
            return
        with self._database.write() as connection:
            queues = connection.execute(
                self._database.sql["lane_ack"], {"message_ids": json.dumps(message_ids)}
            ).fetchall()
            keys = [dict(zip(("lane", "tenant_id", "trigger_id"), q, strict=True)) for q in queues]
            promoted = connection.executemany(self._database.sql["lane_promote"], keys).rowcount
        if promoted > 0:
            self._announce()

    def depth(self) -> dict[Lane, int]:
        with self._database.read() as connection:
            rows = connection.execute(self._database.sql["lane_depth"]).fetchall()
        return dict.fromkeys(Lane, 0) | {Lane(lane): count for lane, count in rows}

    def wait(self, timeout_s: float) -> bool:
        """Also wakes when an acknowledgement lets the next message of a trigger out.

        What came since this thread's last wait counts, so nothing slips in between a pull that
        found nothing and the wait that follows it.
        """
        seen: int = getattr(self._seen, "count", 0)
        with self._news:
            came = self._news.wait_for(lambda: self._news_count != seen, timeout_s)
            self._seen.count = self._news_count
        return came

    def _has_deliverable(self, lanes: Sequence[Lane], now_us: int, without: str) -> bool:
        """A read first: idle dispatchers that poll must not take turns with the writers."""
        question = {
            "lanes": json.dumps([lane.value for lane in lanes]),
            "now_us": now_us,
            "without": without,
        }
        with self._database.read() as connection:
            row = connection.execute(self._database.sql["lane_has_deliverable"], question)
            return bool(row.fetchone()[0])

    def _announce(self) -> None:
        with self._news:
            self._news_count += 1
            self._news.notify_all()


def _delivered(lane: Lane, row: tuple[int, str, str, int, int, int]) -> Delivered:
    message_id, tenant_id, trigger_id, scheduled_us, sequence, n = row
    key = FireKey(tenant_id, trigger_id, scheduled_us, sequence)
    return Delivered(message_id, LaneMessage(key, lane, n))
