"""Attempts against well-behaved servers (dispatcher/http_delivery.py)."""

import asyncio
import logging
import ssl
import time

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from dispatcher.http_delivery import DeliveryResult, HttpDelivery
from scheduling.vocabulary import TransportResult
from tests.dispatcher.targets import (
    CERTIFICATE,
    PREVIOUS_SECRET,
    SECRET,
    Behaviour,
    a_delivery,
    a_raw_target,
    a_target,
    after_request,
    read_request,
    run,
)

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.mark.parametrize("status", [200, 202, 204, 304, 400, 404, 408, 410, 425, 429, 500, 503])
def test_delivery_status_comes_back_as_response(status: int) -> None:
    async def main() -> None:
        async with a_target(status) as seen, HttpDelivery(allow_loopback=True) as http:
            result = await http.deliver(a_delivery(seen.endpoint))
        assert result == DeliveryResult(TransportResult.RESPONSE, http_status=status)

    run(main())


def test_delivery_request_verifies_with_the_standard_library() -> None:
    async def main() -> None:
        async with a_target() as seen, HttpDelivery(allow_loopback=True) as http:
            delivery = a_delivery(
                seen.endpoint + "?a=%2F&b=~",
                signing_secrets=(SECRET, PREVIOUS_SECRET),
                payload="Grüße".encode(),
            )
            await http.deliver(delivery)
        fields, content = seen.requests[0]
        for secret in (SECRET, PREVIOUS_SECRET):
            assert Webhook(secret).verify(content, fields)["payload"] == "Grüße"
        assert fields["webhook-id"] == delivery.fire_key
        assert fields["Content-Type"] == "application/json"
        assert abs(int(fields["webhook-timestamp"]) - time.time()) < 60
        assert {"Cookie", "Accept-Encoding", "Authorization"}.isdisjoint(fields)

    run(main())


def test_delivery_largest_payload_arrives_whole() -> None:
    async def main() -> None:
        async with a_target() as seen, HttpDelivery(allow_loopback=True) as http:
            result = await http.deliver(a_delivery(seen.endpoint, payload=b"\x01" * 65_536))
        fields, content = seen.requests[0]
        assert result.http_status == 200
        assert Webhook(SECRET).verify(content, fields)["payload"] == "\x01" * 65_536

    run(main())


def test_delivery_url_is_sent_as_written() -> None:
    heads: list[bytes] = []

    async def keep_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readline())
        writer.write(OK)

    async def main() -> None:
        async with a_raw_target(keep_head) as seen, HttpDelivery(allow_loopback=True) as http:
            await http.deliver(a_delivery(seen.endpoint + "/a%2Fb%7E;c?x=%41&y"))
        assert heads == [b"POST /hook/a%2Fb%7E;c?x=%41&y HTTP/1.1\r\n"]

    run(main())


def test_delivery_redirect_is_not_followed() -> None:
    async def main() -> None:
        async with (
            a_target() as inner,
            HttpDelivery(allow_loopback=True) as http,
            a_target(307, headers={"Location": inner.endpoint}) as outer,
        ):
            result = await http.deliver(a_delivery(outer.endpoint))
        assert result == DeliveryResult(TransportResult.RESPONSE, http_status=307)
        assert len(outer.requests) == 1
        assert inner.requests == []

    run(main())


def test_delivery_cookies_are_not_kept() -> None:
    async def main() -> None:
        cookie = {"Set-Cookie": "session=1; Path=/"}
        async with a_target(headers=cookie) as seen, HttpDelivery(allow_loopback=True) as http:
            for _ in range(2):
                await http.deliver(a_delivery(seen.endpoint))
        assert [("Cookie" in fields) for fields, _ in seen.requests] == [False, False]

    run(main())


def test_delivery_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with a_target() as proxy, a_target() as seen:
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.endpoint)
            monkeypatch.setenv("no_proxy", "")
            async with HttpDelivery(allow_loopback=True) as http:
                await http.deliver(a_delivery(seen.endpoint))
        assert (len(proxy.requests), len(seen.requests)) == (0, 1)

    run(main())


RETRY_AFTERS = {
    "seconds": ("30", 30.0),
    "date": ("Thu, 09 Oct 2025 08:54:20 GMT", 60.0),
    "far": ("31536000", 86_400.0),
    "unreadable": ("later", None),
}


@pytest.mark.parametrize(("text", "wait_s"), RETRY_AFTERS.values(), ids=RETRY_AFTERS)
def test_delivery_retry_after_comes_back(text: str, wait_s: float | None) -> None:
    async def main() -> None:
        async with (
            a_target(503, headers={"Retry-After": text}) as seen,
            HttpDelivery(allow_loopback=True, clock=lambda: 1_760_000_000.9) as http,
        ):
            result = await http.deliver(a_delivery(seen.endpoint))
        expected = wait_s if text != RETRY_AFTERS["date"][0] else pytest.approx(59.1)
        assert result.retry_after_s == expected
        assert seen.requests[0][0]["webhook-timestamp"] == "1760000000"

    run(main())


def _answering_each(answer: bytes) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(answer)

    return behave


# Whoever unpacks this fails and closes the connection; the body is to be skipped as it is.
FALSE_GZIP = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nno"


@pytest.mark.parametrize("answer", [OK, FALSE_GZIP], ids=["plain", "packed"])
def test_delivery_connections_are_reused(answer: bytes) -> None:
    async def main() -> None:
        async with (
            a_raw_target(_answering_each(answer)) as seen,
            HttpDelivery(allow_loopback=True) as http,
        ):
            results = [await http.deliver(a_delivery(seen.endpoint)) for _ in range(5)]
        assert [result.http_status for result in results] == [200] * 5
        assert seen.connections == 1

    run(main())


def test_delivery_on_sent_is_called_once_before_the_answer() -> None:
    async def main() -> None:
        order: list[str] = []
        sent = asyncio.Event()

        async def answer(request: web.Request) -> web.Response:
            await sent.wait()  # never set unless on_sent comes before the answer
            order.append("answered")
            return web.Response()

        def on_sent() -> None:
            order.append("sent")
            sent.set()

        app = web.Application()
        app.router.add_post("/", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with HttpDelivery(allow_loopback=True) as http:
            endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}/"
            result = await http.deliver(a_delivery(endpoint), on_sent=on_sent)
        await runner.cleanup()
        assert result.http_status == 200
        assert order == ["sent", "answered"]

    run(main())


def test_delivery_after_on_sent_reaches_its_socket_later() -> None:
    async def main() -> None:
        async with a_target() as seen, HttpDelivery(allow_loopback=True) as http:

            async def first_attempts(count: int) -> None:
                for attempt in range(1, count + 1):
                    sent = asyncio.Event()
                    delivery = a_delivery(seen.endpoint, fire_key=f"acme~t0~{attempt}~0")
                    pending.append(asyncio.create_task(http.deliver(delivery, on_sent=sent.set)))
                    await sent.wait()

            pending: list[asyncio.Task[DeliveryResult]] = []
            await first_attempts(20)
            await asyncio.gather(*pending)
        order = [int(fields["webhook-id"].split("~")[2]) for fields, _ in seen.requests]
        assert order == list(range(1, 21))

    run(main())


def _server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_delivery_over_trusted_tls_arrives() -> None:
    async def main() -> None:
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        async with (
            a_raw_target(after_request(OK), ssl_context=_server_tls()) as seen,
            HttpDelivery(allow_loopback=True, ssl_context=trusting) as http,
        ):
            result = await http.deliver(a_delivery(seen.endpoint))
        assert result == DeliveryResult(TransportResult.RESPONSE, http_status=200)

    run(main())


def test_delivery_to_an_untrusted_certificate_is_not_sent() -> None:
    async def main() -> None:
        async with (
            a_raw_target(after_request(OK), ssl_context=_server_tls()) as seen,
            HttpDelivery(allow_loopback=True) as http,
        ):
            result = await http.deliver(a_delivery(seen.endpoint))
        assert result.transport_result is TransportResult.NOT_SENT
        assert result.error is not None
        assert "no valid TLS certificate (self-signed certificate)" in result.error

    run(main())


def test_delivery_not_entered_says_how() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match="async with"):
            await HttpDelivery().deliver(a_delivery("https://example.com/"))

    run(main())


def test_delivery_logs_hold_nothing_secret(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with (
            a_raw_target(after_request(b"nonsense\r\n\r\n")) as seen,
            HttpDelivery(allow_loopback=True) as http,
        ):
            for endpoint in (seen.endpoint, "http://127.0.0.1:1/p4th", "http://[::1]:1/p4th"):
                delivery = a_delivery(f"{endpoint}?key=qu3ry", payload=b'"p4yload"', token="t0ken")
                result = await http.deliver(delivery)
                texts.append(result.error or "")

    texts: list[str] = []
    caplog.set_level(logging.DEBUG)
    run(main())
    assert all(texts)
    said = " ".join(texts) + caplog.text
    for word in ("p4th", "qu3ry", "p4yload", "t0ken", SECRET, SECRET.removeprefix("whsec_")):
        assert word not in said
