"""The dispatcher: pulls fires from the lanes, claims, delivers and records what came of it.

The order of one attempt: the claim's row is committed, the message is acknowledged, then the
connection is made. Nothing waits in memory: what has to be tried again goes back to the store, and
what would wait behind a first attempt that cannot get its connection stays on its lane.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from dispatcher.attempt_metrics import count_attempt
from dispatcher.envelope import Delivery
from dispatcher.http_delivery import DeliveryResult
from dispatcher.lacks import Lacks
from ports import log_actions as log
from ports import metrics
from ports.attempt_tokens import AttemptTokensPort
from ports.errors import PortError
from ports.lanes import LanesPort
from ports.ledger import LedgerPort
from ports.records import (
    ClaimedFire,
    ClaimRequest,
    FinishRequest,
    FinishResult,
    LaneMessage,
)
from ports.time_authority import TimeAuthorityPort
from scheduling.clock_gate import GateState, observe
from scheduling.instants import SECOND_US
from scheduling.retry import AttemptResult
from scheduling.vocabulary import Lane, TransportResult
from schemas.well_known import web_origin

LANES: Final = (Lane.ON_TIME, Lane.CATCH_UP, Lane.BACKFILL)
PULL_MAX: Final = 200  # messages a pull: bounds the claim's transaction
# A message is out only between its pull and its acknowledgement, a few milliseconds.
PULL_LEASE_US: Final = 5 * SECOND_US
IDLE_WAIT_S: Final = 0.25  # how long a publication by another process may go unnoticed
STORE_RETRY_S: Final = 0.5
DRAIN_STORE_S: Final = 10.0  # how long a drain waits for a store that cannot take results
# How long a trigger's first attempt may be on its way to the wire before the next ones are left
# unclaimed: their claims would expire behind it, and their first dispatch would be told too early.
UNSENT_S: Final = 1.0
CLAIM_REST_S: Final = 1.0  # of a claim's time, kept for recording the result
_UNUSABLE: Final = (
    "nothing was sent, because the ownership of the target's host has lapsed or was taken back:"
    " serve its text there and verify the target, or ask an operator to allow the host"
)

T = TypeVar("T")
OrderKey = tuple[str, str, Lane]  # tenant, trigger, lane


class Deliverer(Protocol):
    """Makes one attempt; `on_sent` is called once, when the request is on its way or has failed."""

    async def deliver(
        self, delivery: Delivery, *, on_sent: Callable[[], None] | None = None
    ) -> DeliveryResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """One attempt that ended, for whoever watches."""

    fire: ClaimedFire
    result: DeliveryResult
    started_us: int
    ended_us: int


class _Unsent:
    """A first attempt that has not been sent yet, and since when."""

    __slots__ = ("sent", "since_s")

    def __init__(self) -> None:
        self.sent = asyncio.Event()
        self.since_s = time.monotonic()


class Dispatcher:
    """Runs until `stop` is set, then takes no more and ends when what is in flight has ended."""

    def __init__(
        self,
        *,
        ledger: LedgerPort,
        lanes: LanesPort,
        clock: TimeAuthorityPort,
        deliverer: Deliverer,
        attempt_tokens: AttemptTokensPort,
        in_flight_max: int,
        watch: Callable[[Finished], None] | None = None,
    ) -> None:
        self._ledger = ledger
        self._lanes = lanes
        self._clock = clock
        self._gate = GateState()
        self._deliverer = deliverer
        self._attempt_tokens = attempt_tokens
        self._in_flight_max = in_flight_max
        self._watch = watch
        self._threads = ThreadPoolExecutor(3, thread_name_prefix="dispatcher")
        self._in_flight: set[asyncio.Task[None]] = set()
        self._results: asyncio.Queue[FinishRequest] = asyncio.Queue()
        self._room = asyncio.Event()
        self._unsent: dict[OrderKey, _Unsent] = {}
        self._of_tenant: Counter[str] = Counter()  # attempts under way
        self._told_full: frozenset[str] = frozenset()
        self._lacks = Lacks()
        self._give_up_at: float | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Dispatch until `stop`; then drain. Cancelling leaves claims to expire."""
        log.info("dispatcher_started", in_flight_max=self._in_flight_max)
        recorder = asyncio.create_task(self._record())
        try:
            while not stop.is_set():
                await self._take_some(stop)
            if self._in_flight:
                await asyncio.wait(self._in_flight)
            self._give_up_at = asyncio.get_running_loop().time() + DRAIN_STORE_S
            await self._results.join()
        finally:
            recorder.cancel()
            self._threads.shutdown(wait=False, cancel_futures=True)
        log.info("dispatcher_drained")

    async def _take_some(self, stop: asyncio.Event) -> None:
        free = self._in_flight_max - len(self._in_flight)
        if free <= 0:
            self._room.clear()
            await self._room.wait()
            return
        if (rest_s := self._lacks.rest_s()) > 0:
            await _sleep(rest_s, stop)
            return
        try:
            full = self._full_tenants(free)
            # Half of what is free, so that no single pull can take all of it for one tenant.
            limit = min((free + 1) // 2, PULL_MAX)
            fires = await self._in_thread(lambda: self._take(limit, full))
        except PortError as error:
            log.warning("dispatcher_store_unavailable", error=str(error))
            await _sleep(STORE_RETRY_S, stop)
            return
        for fire in fires:
            self._start(fire)
        if fires or stop.is_set():
            return
        if full:
            self._room.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._room.wait(), IDLE_WAIT_S)
        else:
            await self._in_thread(lambda: self._lanes.wait(IDLE_WAIT_S))

    def _full_tenants(self, free: int) -> frozenset[str]:
        """Tenants with more attempts under way than are left for all: the others come first.

        So one whose targets hang never holds more than two thirds of the attempts.
        """
        full = frozenset(tenant for tenant, count in self._of_tenant.items() if count > free)
        if full - self._told_full:
            log.warning("tenants_held_back", tenants=sorted(full), free=free)
        self._told_full = full
        return full

    def _take(self, limit: int, without: Collection[str] = ()) -> list[ClaimedFire]:
        """Pull, claim, acknowledge. Runs in a thread.

        A failure of the claim leaves the messages to return. A failure of the acknowledgement
        does too, but what was claimed goes out: the claim refuses the repeat.
        """
        now_us = self._now_us()
        if now_us is None:
            return []
        delivered = self._lanes.pull(
            LANES, limit=limit, now_us=now_us, lease_us=PULL_LEASE_US, without=without
        )
        # Read again: a fire that was decided during the pull must not look early.
        now_us = self._now_us()
        if not delivered or now_us is None:
            return []
        taken = [item for item in delivered if not self._is_stuck(item.message)]
        requests = [ClaimRequest(item.message.key, item.message.n) for item in taken]
        fires = self._ledger.claim(requests, now_us=now_us) if requests else []
        metrics.count("punctual_messages_stale_total", len(requests) - len(fires))
        try:
            self._lanes.ack([item.handle for item in taken])
        except PortError as error:
            log.warning("dispatcher_store_unavailable", error=str(error))
        return fires

    def _is_stuck(self, message: LaneMessage) -> bool:
        unsent = self._unsent.get((message.key.tenant_id, message.key.trigger_id, message.lane))
        if unsent is None or message.n != 1:
            return False
        return time.monotonic() - unsent.since_s > UNSENT_S

    def _now_us(self) -> int | None:
        """The time, unless the clock is wrong: it would judge early and late wrongly at a claim."""
        reading = self._clock.now()
        self._gate, verdict = observe(self._gate, reading)
        return reading.wall_us if verdict.is_open else None

    def _start(self, fire: ClaimedFire) -> None:
        """Begin one attempt; first attempts of a trigger go out one behind the other."""
        before = mine = None
        order_key = (fire.key.tenant_id, fire.key.trigger_id, fire.lane)
        if fire.n == 1:
            before, mine = self._unsent.get(order_key), _Unsent()
            if before is not None:
                mine.since_s = before.since_s
            self._unsent[order_key] = mine
        task = asyncio.create_task(self._attempt(fire, before=before, mine=mine))
        self._in_flight.add(task)
        self._of_tenant[fire.key.tenant_id] += 1

        def forget(done: asyncio.Task[None]) -> None:
            self._in_flight.discard(done)
            self._of_tenant[fire.key.tenant_id] -= 1
            self._room.set()
            if mine is not None and self._unsent.get(order_key) is mine:
                del self._unsent[order_key]

        task.add_done_callback(forget)

    async def _attempt(
        self, fire: ClaimedFire, *, before: _Unsent | None, mine: _Unsent | None
    ) -> None:
        started_us = self._clock.now().wall_us
        try:
            if before is None or await self._had_its_turn(fire, before):
                started_us = self._clock.now().wall_us
                result = await self._deliver(fire, None if mine is None else mine.sent)
            else:
                result = DeliveryResult(
                    TransportResult.NOT_SENT,
                    error="an earlier fire of the trigger did not get its connection in time",
                )
        finally:
            if mine is not None:
                mine.sent.set()
        ended_us = self._clock.now().wall_us
        self._results.put_nowait(
            FinishRequest(
                fire.key, fire.n, attempt_result_of(result), ended_us, fire.claimed_until_us
            )
        )
        if result.transport_result is TransportResult.UNTRIED:
            self._lacks.note(result)
            return
        count_attempt(fire, result, started_us)
        log.debug(
            "fire_finished",
            fire_key=str(fire.key),
            n=fire.n,
            transport_result=result.transport_result.value,
            http_status=result.http_status,
            late_ms=round((started_us - fire.due_us) / 1_000, 1),
        )
        if self._watch is not None:
            self._watch(
                Finished(fire=fire, result=result, started_us=started_us, ended_us=ended_us)
            )

    async def _had_its_turn(self, fire: ClaimedFire, before: _Unsent) -> bool:
        """Wait for the attempt before, as long as the claim leaves time for one of its own."""
        left_s = (fire.claimed_until_us - self._clock.now().wall_us) / SECOND_US
        try:
            await asyncio.wait_for(before.sent.wait(), left_s - fire.timeout_s - CLAIM_REST_S)
        except TimeoutError:
            return False
        return True

    async def _deliver(self, fire: ClaimedFire, sent: asyncio.Event | None) -> DeliveryResult:
        if not fire.is_target_usable:
            return DeliveryResult(TransportResult.NOT_SENT, error=_UNUSABLE)
        try:
            delivery = delivery_of(fire, token=self._token_of(fire))
        except PortError as error:
            return DeliveryResult(TransportResult.UNTRIED, error=str(error), lack="token")
        except ValueError as error:
            return DeliveryResult(TransportResult.NOT_SENT, error=str(error))
        try:
            return await self._deliverer.deliver(
                delivery, on_sent=None if sent is None else sent.set
            )
        except Exception as error:
            # A fault of ours must not leave the claim to expire in silence.
            log.error("delivery_failed", fire_key=str(fire.key), error=repr(error))
            return DeliveryResult(
                TransportResult.AMBIGUOUS, error=f"the dispatcher failed: {type(error).__name__}"
            )

    def _token_of(self, fire: ClaimedFire) -> str:
        """It names this attempt to this origin, and lives as long as the claim."""
        return self._attempt_tokens.mint(
            fire.key,
            fire.n,
            audience=web_origin(fire.endpoint),
            now_us=self._clock.now().wall_us,
            expires_us=fire.claimed_until_us,
        )

    async def _record(self) -> None:
        """Write results in batches, for as long as it takes: a lost one would be tried again.

        A drain gives up on a store that stays away: then their claims expire.
        """
        while True:
            batch = [await self._results.get()]
            while len(batch) < PULL_MAX and not self._results.empty():
                batch.append(self._results.get_nowait())
            while True:
                if await self._is_written(batch) or self._has_given_up():
                    break
                await asyncio.sleep(STORE_RETRY_S)
            for _ in batch:
                self._results.task_done()

    async def _is_written(self, batch: Sequence[FinishRequest]) -> bool:
        try:
            finished = await self._in_thread(lambda: self._ledger.finish(batch))
            await self._in_thread(lambda: self._publish(finished))
        except PortError as error:
            log.warning("attempts_store_unavailable", error=str(error), count=len(batch))
            return False
        return True

    def _has_given_up(self) -> bool:
        return self._give_up_at is not None and asyncio.get_running_loop().time() > self._give_up_at

    def _publish(self, finished: Sequence[FinishResult]) -> None:
        """Fires that an end has set free."""
        ready = [message for result in finished for message in result.ready]
        if ready:
            self._lanes.publish(ready)
            self._ledger.mark_queued(ready, now_us=self._clock.now().wall_us)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def delivery_of(fire: ClaimedFire, *, token: str) -> Delivery:
    """The attempt as the target will see it."""
    return Delivery(
        tenant_id=fire.key.tenant_id,
        trigger_id=fire.key.trigger_id,
        trigger_name=fire.trigger_name,
        version=fire.version,
        fire_key=str(fire.key),
        scheduled_instant_us=fire.key.scheduled_us,
        due_at_us=fire.due_us,
        sequence=fire.key.sequence,
        origin=fire.origin,
        lane=fire.lane,
        attempt=fire.n,
        tzdata_version=fire.tzdata_version,
        endpoint=fire.endpoint,
        timeout_s=fire.timeout_s,
        signing_secrets=fire.signing_secrets,
        payload=fire.payload,
        trace_parent=fire.trace_parent,
        token=token,
    )


def attempt_result_of(result: DeliveryResult) -> AttemptResult:
    """The result in the rules' units."""
    retry_after_s = result.retry_after_s
    return AttemptResult(
        result.transport_result,
        result.http_status,
        None if retry_after_s is None else round(retry_after_s * SECOND_US),
        result.error,
    )


async def _sleep(duration_s: float, stop: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), duration_s)
