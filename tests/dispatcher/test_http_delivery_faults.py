"""Attempts against targets that misbehave: what each counts as, and that each ends."""

import asyncio
import socket
import struct

import pytest

from dispatcher.http_delivery import DeliveryResult, HttpDelivery
from scheduling.limits import CONNECTIONS_MAX, CONNECTIONS_PER_HOST_MAX
from scheduling.vocabulary import TransportResult
from tests.dispatcher.targets import (
    Behaviour,
    a_delivery,
    a_raw_target,
    after_request,
    read_request,
    repeating,
    run,
)

TIMEOUT_S = 0.2
ENDED_S_MAX = 5.0  # only to tell an end from none on a busy machine


async def _attempt(endpoint: str, calls: list[str]) -> DeliveryResult:
    async with HttpDelivery(allow_loopback=True) as http:
        delivery = a_delivery(endpoint, timeout_s=TIMEOUT_S)
        return await asyncio.wait_for(
            http.deliver(delivery, on_sent=lambda: calls.append("sent")), ENDED_S_MAX
        )


def _against(behave: Behaviour, scheme: str = "http") -> DeliveryResult:
    results: list[DeliveryResult] = []
    calls: list[str] = []

    async def main() -> None:
        async with a_raw_target(behave) as seen:
            endpoint = seen.endpoint.replace("http", scheme, 1)
            results.append(await _attempt(endpoint, calls))
            assert seen.connections == 1

    run(main())
    assert calls == ["sent"]
    return results[0]


async def never_reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def closes_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    return


async def closes_after_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)


async def resets_after_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    peer: socket.socket = writer.get_extra_info("socket")
    # Lingering for 0 s turns the close into a reset.
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


AMBIGUOUS: dict[str, tuple[Behaviour, str]] = {
    "never_reads": (never_reads, "no answer from"),
    "never_answers": (after_request(b""), "no answer from"),
    "half_a_status_line": (after_request(b"HTTP/1.1 2"), "no answer from"),
    "half_the_headers": (after_request(b"HTTP/1.1 200 OK\r\nx: y\r\n"), "no answer from"),
    "closes_at_once": (closes_at_once, "before an answer|without an answer"),
    "closes_after_request": (closes_after_request, "closed the connection without an answer"),
    "resets_after_request": (resets_after_request, "broke before an answer|without an answer"),
    "not_http": (after_request(b"220 mail.example ESMTP\r\n\r\n"), "not HTTP"),
    "bad_header": (after_request(b"HTTP/1.1 200 OK\r\n\x00: y\r\n\r\n"), "not HTTP"),
    "bad_length": (after_request(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"), "not HTTP"),
    "bad_chunk": (
        after_request(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
        "not HTTP",
    ),
    "endless_status_line": (repeating(b"HTTP/1.1 200 ", b"x" * 999, pause_s=0), "not HTTP"),
    "endless_header": (repeating(b"HTTP/1.1 200 OK\r\nx: ", b"y" * 999, pause_s=0), "not HTTP"),
    "endless_headers": (
        repeating(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 99, pause_s=0),
        "not HTTP|no answer from",
    ),
    "dripping_headers": (
        repeating(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", pause_s=0.01),
        "no answer from",
    ),
    "endless_early_hints": (
        repeating(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", pause_s=0.01),
        "no answer from",
    ),
}


@pytest.mark.parametrize(("behave", "words"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_target_that_breaks_off_is_ambiguous(behave: Behaviour, words: str) -> None:
    result = _against(behave)
    assert result.transport_result is TransportResult.AMBIGUOUS
    assert (result.http_status, result.retry_after_s) == (None, None)
    assert result.error is not None
    assert any(word in result.error for word in words.split("|")), result.error


HEAD = b"HTTP/1.1 200 OK\r\nretry-after: 3\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
RESPONSE: dict[str, Behaviour] = {
    "endless_body": repeating(HEAD + b"\r\n", b"x" * 65_536, pause_s=0),
    "endless_chunks": repeating(CHUNKED, b"ffff\r\n" + b"x" * 65_535 + b"\r\n", pause_s=0),
    "dripping_body": repeating(HEAD + b"\r\n", b"x", pause_s=0.01),
    "missing_body": after_request(HEAD + b"content-length: 10\r\n\r\n"),
    "false_gzip": after_request(HEAD + b"content-encoding: gzip\r\ncontent-length: 2\r\n\r\nno"),
    "bad_cookie": after_request(HEAD + b"set-cookie: \xff=;;=\r\ncontent-length: 0\r\n\r\n"),
    "bad_location": after_request(HEAD + b"location: http://[\r\ncontent-length: 0\r\n\r\n"),
}


@pytest.mark.parametrize("behave", RESPONSE.values(), ids=RESPONSE)
def test_target_whose_body_misbehaves_has_answered(behave: Behaviour) -> None:
    assert _against(behave) == DeliveryResult(
        TransportResult.RESPONSE, http_status=200, retry_after_s=3.0
    )


def test_target_that_switches_protocols_has_answered_and_is_closed() -> None:
    async def main() -> None:
        closed = asyncio.Event()

        async def switches(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(b"HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nmore")
            await reader.read()
            closed.set()

        async with a_raw_target(switches) as seen, HttpDelivery(allow_loopback=True) as http:
            result = await http.deliver(a_delivery(seen.endpoint))
            await asyncio.wait_for(closed.wait(), ENDED_S_MAX)
        assert result == DeliveryResult(TransportResult.RESPONSE, http_status=101)

    run(main())


def test_target_that_answers_before_it_reads_has_answered() -> None:
    async def refuses_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await reader.read()

    assert _against(refuses_early) == DeliveryResult(TransportResult.RESPONSE, http_status=413)


def test_target_with_an_endless_body_is_left_early() -> None:
    async def main() -> None:
        written = 0

        async def floods(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal written
            await read_request(reader)
            writer.write(HEAD + b"\r\n")
            while True:
                writer.write(b"x" * 65_536)
                written += 65_536
                await writer.drain()

        async with a_raw_target(floods) as seen, HttpDelivery(allow_loopback=True) as http:
            result = await http.deliver(a_delivery(seen.endpoint, timeout_s=60))
        assert result.http_status == 200
        assert written < 64 * 1024 * 1024  # the socket's buffers, not a minute of flood

    run(main())


def test_target_that_refuses_connections_is_not_sent() -> None:
    async def main() -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
            port = unused.getsockname()[1]
            result = await _attempt(f"http://127.0.0.1:{port}/", calls)
        assert result == DeliveryResult(
            TransportResult.NOT_SENT,
            error=f"no connection to 127.0.0.1:{port} (Connection refused): start the target or"
            " correct the endpoint",
        )

    calls: list[str] = []
    run(main())
    assert calls == ["sent"]


def test_target_without_tls_is_not_sent() -> None:
    async def answers_in_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    result = _against(answers_in_clear, scheme="https")
    assert result.transport_result is TransportResult.NOT_SENT
    assert result.error is not None
    assert "check that the port speaks https" in result.error


def test_target_that_stalls_in_the_tls_handshake_is_not_sent() -> None:
    result = _against(never_reads, scheme="https")
    assert result.transport_result is TransportResult.NOT_SENT
    assert result.error is not None
    assert result.error.startswith("no connection to 127.0.0.1:")


def test_target_that_is_guarded_is_not_connected_to() -> None:
    async def main() -> None:
        async with a_raw_target(after_request(b"")) as seen, HttpDelivery() as http:
            result = await http.deliver(
                a_delivery(seen.endpoint), on_sent=lambda: calls.append("sent")
            )
            assert seen.connections == 0
        assert result.transport_result is TransportResult.NOT_SENT
        assert result.error is not None
        assert "loopback" in result.error

    calls: list[str] = []
    run(main())
    assert calls == ["sent"]


def test_delivery_cancelled_calls_on_sent_once_and_closes() -> None:
    async def main() -> None:
        arrived, closed = asyncio.Event(), asyncio.Event()

        async def waits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            arrived.set()
            await reader.read()
            closed.set()

        async with a_raw_target(waits) as seen, HttpDelivery(allow_loopback=True) as http:
            task = asyncio.create_task(
                http.deliver(a_delivery(seen.endpoint), on_sent=lambda: calls.append("sent"))
            )
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(closed.wait(), ENDED_S_MAX)

    calls: list[str] = []
    run(main())
    assert calls == ["sent"]


def test_one_stuck_host_does_not_stop_another() -> None:
    async def main() -> None:
        is_full = asyncio.Event()

        async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if stuck.connections == CONNECTIONS_PER_HOST_MAX:
                is_full.set()
            await asyncio.Event().wait()

        ok = after_request(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        async with (
            a_raw_target(never_answers) as stuck,
            a_raw_target(ok) as well,
            HttpDelivery(allow_loopback=True) as http,
        ):
            waiting = [
                asyncio.create_task(http.deliver(a_delivery(stuck.endpoint, timeout_s=30)))
                for _ in range(CONNECTIONS_MAX + 50)
            ]
            await is_full.wait()
            result = await http.deliver(a_delivery(well.endpoint))
            assert not any(task.done() for task in waiting)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        assert result.http_status == 200

    run(main())


async def says_continue_for_ever(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    await read_request(reader)
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()


def test_target_that_says_continue_for_ever_is_left_before_the_timeout() -> None:
    async def main() -> None:
        async with (
            a_raw_target(says_continue_for_ever) as seen,
            HttpDelivery(allow_loopback=True) as http,
        ):
            delivery = a_delivery(seen.endpoint, timeout_s=60.0)
            result = await asyncio.wait_for(http.deliver(delivery), ENDED_S_MAX)
            assert result.transport_result is TransportResult.AMBIGUOUS
            assert result.error is not None

    run(main())


async def says_continue_twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 2)
    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    await writer.drain()


def test_target_that_says_continue_before_its_answer_has_answered() -> None:
    assert _against(says_continue_twice).http_status == 204
