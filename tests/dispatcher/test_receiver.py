"""The demo receiver (punctual/receiver.py), reached by the real delivery client."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from adapters.ownership_http import HttpOwnership
from control_api.ownership_text import ownership_text
from dispatcher.envelope import body, headers
from dispatcher.http_delivery import HttpDelivery
from punctual.receiver import DemoReceiver, ReceivedFire, line_of
from scheduling.vocabulary import Lane
from tests.dispatcher.targets import DUE_AT_US, PREVIOUS_SECRET, SECRET, a_delivery, run

BAD_SECRET = PREVIOUS_SECRET


async def _post(endpoint: str, content: bytes, fields: dict[str, str]) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(endpoint, data=content, headers=fields) as response,
    ):
        is_json = response.content_type == "application/json"
        return response.status, await response.json() if is_json else None


def _signed(*, age_s: int = 0, **changes: Any) -> tuple[bytes, dict[str, str]]:
    delivery = a_delivery(**changes)
    content = body(delivery)
    return content, headers(delivery, content, timestamp_s=int(time.time()) - age_s)


def test_receiver_new_fire_is_handed_on_with_its_lateness() -> None:
    async def main() -> None:
        fires: list[ReceivedFire] = []
        now_s = DUE_AT_US / 1_000_000 + 0.25
        async with (
            DemoReceiver([SECRET], fires.append, clock=lambda: now_s) as receiver,
            HttpDelivery(allow_loopback=True) as http,
        ):
            result = await http.deliver(a_delivery(receiver.endpoint, attempt=2))
        assert result.http_status == 200
        assert fires == [
            ReceivedFire(
                fire_key=f"acme~t0123456789~{DUE_AT_US}~0",
                tenant="acme",
                trigger="nightly",
                scheduled_instant_us=DUE_AT_US,
                due_at_us=DUE_AT_US,
                origin="sched",
                lane="on_time",
                attempt=2,
                payload={"amount": 1},
                received_at_us=DUE_AT_US + 250_000,
            )
        ]
        assert fires[0].lateness_s == 0.25
        assert line_of(fires[0]) == "on_time acme/nightly attempt 2 +250 ms"
        assert (receiver.counts.fires, receiver.counts.duplicates) == (1, 0)

    run(main())


def test_receiver_repeat_answers_200_and_is_not_handed_on() -> None:
    async def main() -> None:
        fires: list[ReceivedFire] = []
        async with DemoReceiver([SECRET], fires.append) as receiver:
            answers = [
                await _post(receiver.endpoint, *_signed(attempt=attempt)) for attempt in (1, 2, 3)
            ]
        assert answers == [
            (200, {"duplicate": False}),
            (200, {"duplicate": True}),
            (200, {"duplicate": True}),
        ]
        assert [fire.attempt for fire in fires] == [1]
        assert (receiver.counts.fires, receiver.counts.duplicates) == (1, 2)

    run(main())


def test_receiver_remembers_a_bounded_number_of_fires() -> None:
    async def main() -> None:
        fires: list[str] = []
        async with DemoReceiver(
            [SECRET], lambda fire: fires.append(fire.fire_key), ids_max=2
        ) as receiver:
            for key in ("a", "b", "c", "b", "a"):
                await _post(receiver.endpoint, *_signed(fire_key=key))
        assert fires == ["a", "b", "c", "a"]

    run(main())


FORGED: dict[str, dict[str, str]] = {
    "id": {"webhook-id": "acme~t0~0~0"},
    "timestamp": {"webhook-timestamp": "1"},
    "timestamp_not_a_number": {"webhook-timestamp": "now"},
    "signature": {"webhook-signature": "v1,AAAA"},
    "signature_no_comma": {"webhook-signature": "v1"},
    "signature_not_base64": {"webhook-signature": "v1,A"},
    "signature_empty": {"webhook-signature": ""},
}


@pytest.mark.parametrize("changes", FORGED.values(), ids=FORGED)
def test_receiver_forged_header_is_401(changes: dict[str, str]) -> None:
    async def main() -> None:
        async with DemoReceiver([SECRET], lambda fire: pytest.fail("handed on")) as receiver:
            content, fields = _signed()
            status, answer = await _post(receiver.endpoint, content, fields | changes)
        assert status == 401
        assert "webhook-signature" in answer["error"]
        assert (receiver.counts.fires, receiver.counts.refused) == (0, 1)

    run(main())


# Signed when the test runs: what is six minutes ahead at collection soon is not.
FORGED_REQUESTS: dict[str, Callable[[], tuple[bytes, dict[str, str]]]] = {
    "other_secret": lambda: _signed(signing_secrets=(BAD_SECRET,)),
    "changed_body": lambda: (_signed()[0] + b" ", _signed()[1]),
    "body_not_utf8": lambda: (b"\xff", _signed()[1]),
    "no_headers": lambda: (_signed()[0], {}),
    "six_minutes_old": lambda: _signed(age_s=360),
    "six_minutes_ahead": lambda: _signed(age_s=-360),
}


@pytest.mark.parametrize("forged", FORGED_REQUESTS.values(), ids=FORGED_REQUESTS)
def test_receiver_forged_request_is_401(
    forged: Callable[[], tuple[bytes, dict[str, str]]],
) -> None:
    async def main() -> None:
        async with DemoReceiver([SECRET], lambda fire: pytest.fail("handed on")) as receiver:
            status, _ = await _post(receiver.endpoint, *forged())
        assert status == 401

    run(main())


def test_receiver_with_two_secrets_takes_either() -> None:
    async def main() -> None:
        fires: list[ReceivedFire] = []
        async with DemoReceiver([SECRET, PREVIOUS_SECRET], fires.append) as receiver:
            for key, secret in (("a", SECRET), ("b", PREVIOUS_SECRET)):
                status, _ = await _post(
                    receiver.endpoint, *_signed(fire_key=key, signing_secrets=(secret,))
                )
                assert status == 200
        assert [fire.fire_key for fire in fires] == ["a", "b"]

    run(main())


@pytest.mark.expects_error_log
def test_receiver_failed_work_is_done_again_at_the_next_attempt() -> None:
    async def main() -> None:
        outcomes = iter([RuntimeError("disk full"), None])

        def work(fire: ReceivedFire) -> None:
            outcome = next(outcomes)
            if outcome is not None:
                raise outcome

        async with DemoReceiver([SECRET], work) as receiver:
            statuses = [(await _post(receiver.endpoint, *_signed()))[0] for _ in range(3)]
        assert statuses == [500, 200, 200]
        assert (receiver.counts.fires, receiver.counts.duplicates) == (1, 1)

    run(main())


def test_receiver_largest_fire_is_taken() -> None:
    async def main() -> None:
        fires: list[ReceivedFire] = []
        async with DemoReceiver([SECRET], fires.append) as receiver:
            status, _ = await _post(receiver.endpoint, *_signed(payload=b"\x01" * 65_536))
        assert status == 200
        assert fires[0].payload == "\x01" * 65_536

    run(main())


def test_receiver_concurrent_repeats_are_handed_on_once() -> None:
    async def main() -> None:
        fires: list[ReceivedFire] = []
        async with DemoReceiver([SECRET], fires.append) as receiver:
            signed = _signed()
            answers = await asyncio.gather(*(_post(receiver.endpoint, *signed) for _ in range(10)))
        assert len(fires) == 1
        assert sorted(answer["duplicate"] for _, answer in answers) == [False] + [True] * 9

    run(main())


def test_receiver_proves_its_host_for_the_tenants_that_it_is_told() -> None:
    async def main() -> None:
        checks = HttpOwnership(allow_loopback=True)
        async with DemoReceiver([SECRET], lambda fire: None, tenants=["acme", "demo"]) as receiver:
            for tenant, is_proven in (("acme", True), ("demo", True), ("other", False)):
                answer = await asyncio.to_thread(
                    checks.check,
                    receiver.endpoint,
                    expected=ownership_text(tenant, receiver.endpoint),
                )
                assert (tenant, answer.is_proven) == (tenant, is_proven)

    run(main())


def test_receiver_that_is_told_no_tenant_proves_nothing() -> None:
    async def main() -> None:
        checks = HttpOwnership(allow_loopback=True)
        async with DemoReceiver([SECRET], lambda fire: None) as receiver:
            expected = ownership_text("acme", receiver.endpoint)
            answer = await asyncio.to_thread(checks.check, receiver.endpoint, expected=expected)
        assert not answer.is_proven
        assert answer.detail.startswith("the host's answer is empty")

    run(main())


def test_receiver_outside_loopback_is_refused() -> None:
    with (
        socket.create_server(("0.0.0.0", 0)) as listener,
        pytest.raises(ValueError, match=r"host: 0\.0\.0\.0 is not loopback"),
    ):
        DemoReceiver([SECRET], lambda fire: None, listener=listener)


def test_line_of_a_first_attempt_names_lane_trigger_and_lateness() -> None:
    fire = ReceivedFire(
        fire_key="k",
        tenant="acme",
        trigger="nightly",
        scheduled_instant_us=0,
        due_at_us=1_000_000,
        origin="sched",
        lane=Lane.CATCH_UP,
        attempt=1,
        payload=None,
        received_at_us=3_500_000,
    )
    assert line_of(fire) == "catch_up acme/nightly +2500 ms"
