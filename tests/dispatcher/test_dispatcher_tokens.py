"""What each attempt carries to prove itself, and attempts at targets that may not be used."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jwt
import pytest

from dispatcher.http_delivery import HttpDelivery
from ports.attempt_tokens import AttemptClaims
from ports.changes import RecordOwnership
from ports.records import AttemptRecord, FireRecord
from scheduling.vocabulary import FireState, OwnershipState, TransportResult
from tests.dispatcher.bench import Bench, until
from tests.dispatcher.targets import Seen, a_target
from tests.support.store_builders import TARGET, TENANT, at

TIMEOUT_S = 10.0
CLAIM_MARGIN_S = 5.0


def _play(folder: Path, play: Callable[[Bench, Seen], Awaitable[None]], status: int = 200) -> Bench:
    """A dispatcher with real connections against a target that keeps what it sees."""

    async def main() -> Bench:
        async with a_target(status) as seen, HttpDelivery(allow_loopback=True) as http:
            bench = Bench(folder, endpoint=seen.endpoint + "?key=qu3ry")
            stop = asyncio.Event()
            running = asyncio.create_task(bench.dispatcher(http).run(stop))
            await play(bench, seen)
            stop.set()
            await running
        return bench

    return asyncio.run(main())


def _fire(bench: Bench, second: int) -> FireRecord:
    (fire,) = (f for f in bench.store.history.fires(limit=9) if f.key.scheduled_us == at(second))
    return fire


def _attempts(bench: Bench, second: int) -> list[AttemptRecord]:
    return bench.store.history.attempts(_fire(bench, second).key)


def _lapse(bench: Bench, endpoint: str) -> None:
    (target,) = bench.store.registry.targets(TENANT)
    assert target.endpoint.startswith(endpoint)
    # What an operator allowed lapses never: it was proven before.
    for state in (OwnershipState.PROVEN, OwnershipState.LAPSED):
        change = RecordOwnership(
            tenant_id=TENANT, target_id=TARGET, endpoint=target.endpoint, ownership=state
        )
        bench.store.registry.apply([change], now_us=at(0), actor="test")


def _token(request: tuple[dict[str, str], bytes]) -> str:
    scheme, _, token = request[0]["Authorization"].partition(" ")
    assert scheme == "Bearer"
    return token


def test_attempt_carries_a_token_that_names_it_and_lives_as_long(tmp_path: Path) -> None:
    requests: list[tuple[dict[str, str], bytes]] = []
    origins: list[str] = []

    async def play(bench: Bench, seen: Seen) -> None:
        bench.decide(1)
        await until(lambda: bench.states() == {1.0: FireState.ACCEPTED})
        requests.extend(seen.requests)
        origins.append(seen.endpoint.removesuffix("/hook"))

    bench = _play(tmp_path, play)
    (request,) = requests
    assert bench.attempt_tokens.verify(_token(request)) == AttemptClaims(
        key=_fire(bench, 1).key,
        n=1,
        issued_us=at(1),
        expires_us=at(1 + TIMEOUT_S + CLAIM_MARGIN_S),
    )
    (attempt,) = _attempts(bench, 1)
    assert attempt.claimed_until_us == at(1 + TIMEOUT_S + CLAIM_MARGIN_S)
    claims: dict[str, Any] = jwt.decode(_token(request), options={"verify_signature": False})
    assert claims["aud"] == origins[0]
    bench.close()


def test_each_attempt_of_a_fire_has_a_token_of_its_own(tmp_path: Path) -> None:
    tokens: list[str] = []

    async def play(bench: Bench, seen: Seen) -> None:
        bench.decide(1)
        await until(lambda: bench.states() == {1.0: FireState.HELD})
        again_us = _fire(bench, 1).not_before_us
        assert again_us is not None
        bench.clock.advance(again_us - bench.clock.wall_us)
        bench.lanes.publish(bench.store.repair.sweep("owner", now_us=bench.clock.wall_us))
        await until(lambda: len(seen.requests) == 2)
        tokens.extend(_token(request) for request in seen.requests)

    bench = _play(tmp_path, play, status=503)
    found = [bench.attempt_tokens.verify(token) for token in tokens]
    assert [claims and (claims.key, claims.n, claims.issued_us) for claims in found] == [
        (_fire(bench, 1).key, 1, at(1)),  # issued in the whole second before
        (_fire(bench, 1).key, 2, at(1)),
    ]
    bench.close()


def test_unusable_target_is_not_connected_to_and_says_why(tmp_path: Path) -> None:
    async def play(bench: Bench, seen: Seen) -> None:
        _lapse(bench, seen.endpoint)
        bench.decide(1)
        await until(lambda: bench.states() == {1.0: FireState.HELD})
        assert seen.requests == []

    bench = _play(tmp_path, play)
    (attempt,) = _attempts(bench, 1)
    assert attempt.transport_result == TransportResult.NOT_SENT
    assert attempt.http_status is None
    assert attempt.error is not None
    assert "the ownership of the target's host has lapsed" in attempt.error
    assert "verify the target" in attempt.error
    assert _fire(bench, 1).next_attempt_n == 2
    bench.close()


def test_target_that_is_usable_again_gets_the_next_fire(tmp_path: Path) -> None:
    async def play(bench: Bench, seen: Seen) -> None:
        _lapse(bench, seen.endpoint)
        bench.decide(1)
        await until(lambda: bench.states() == {1.0: FireState.HELD})
        (target,) = bench.store.registry.targets(TENANT)
        proven = RecordOwnership(
            tenant_id=TENANT,
            target_id=TARGET,
            endpoint=target.endpoint,
            ownership=OwnershipState.PROVEN,
        )
        bench.store.registry.apply([proven], now_us=at(1), actor="test")
        bench.decide(2)
        await until(lambda: bench.states()[2.0] is FireState.ACCEPTED)
        assert len(seen.requests) == 1

    _play(tmp_path, play).close()


def test_tokens_are_neither_logged_nor_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens: list[str] = []

    async def play(bench: Bench, seen: Seen) -> None:
        bench.decide(1)
        await until(lambda: bench.states() == {1.0: FireState.REFUSED})
        tokens.extend(_token(request) for request in seen.requests)

    caplog.set_level(logging.DEBUG)
    _play(tmp_path, play, status=400).close()
    (token,) = tokens
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("store.db*"))
    assert "fire_finished" in caplog.text
    for part in (*token.split(".")[1:], "qu3ry"):
        assert part not in caplog.text
        assert part == "qu3ry" or part.encode() not in stored
