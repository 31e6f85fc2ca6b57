"""The ownership check against real hosts on loopback: what proves, and what does not."""

import asyncio
import ssl
from collections.abc import Iterator
from ipaddress import ip_address

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from adapters.ownership_http import HttpOwnership
from ports.ownership import OwnershipAnswer
from scheduling.limits import ECHO_CHARS_MAX, OWNERSHIP_BYTES_MAX
from schemas.well_known import ownership_url
from tests.dispatcher.targets import CERTIFICATE, Behaviour, Seen, a_raw_target, a_target
from tests.support.http_receiver import LoopThread

EXPECTED = "punctual-ownership-v1=0123456789abcdef0123456789abcdef01234567"
OTHERS = "punctual-ownership-v1=fedcba9876543210fedcba9876543210fedcba98"
PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    with LoopThread() as thread:
        yield thread


def _check(endpoint: str, **options: object) -> OwnershipAnswer:
    port = HttpOwnership(**{"allow_loopback": True, **options})  # type: ignore[arg-type]
    return port.check(endpoint, expected=EXPECTED)


def _sending(answer: bytes, *, then_waits: bool = False) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if then_waits:
            await asyncio.Event().wait()

    return behave


def _raw(loop: LoopThread, answer: bytes, *, then_waits: bool = False) -> Seen:
    return loop.enter(a_raw_target(_sending(answer, then_waits=then_waits)))


PROVING = {
    "alone": EXPECTED,
    "with_newline": EXPECTED + "\n",
    "windows_lines": f"# ours\r\n{EXPECTED}\r\n",
    "between_others": f"{OTHERS}\n  {EXPECTED}\t\n{OTHERS}\n",
    "byte_order_mark": "\ufeff" + EXPECTED,
    "comment_not_ascii": f"größe\n{EXPECTED}",
    "largest": EXPECTED + "\n" * (OWNERSHIP_BYTES_MAX - len(EXPECTED)),
}


@pytest.mark.parametrize("text", PROVING.values(), ids=PROVING)
def test_check_line_that_is_there_proves(loop: LoopThread, text: str) -> None:
    seen = loop.enter(a_target(text=text))
    assert _check(seen.endpoint) == OwnershipAnswer(
        True, f"{ownership_url(seen.endpoint)} serves the line"
    )


def test_check_asks_the_well_known_path_and_tells_nothing_of_the_target(loop: LoopThread) -> None:
    heads: list[bytes] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(PLAIN + f"connection: close\r\n\r\n{EXPECTED}".encode())

    seen = loop.enter(a_raw_target(keep))
    assert _check(seen.endpoint + "/s3cret?key=qu3ry").is_proven
    (head,) = heads
    assert head.startswith(b"GET /.well-known/punctual-ownership HTTP/1.1\r\n")
    assert b"\r\naccept: text/plain\r\n" in head
    assert b"user-agent: punctual/" in head
    for word in (b"s3cret", b"qu3ry", EXPECTED.encode(), b"Accept-Encoding"):
        assert word not in head


NOT_PROVING: dict[str, tuple[str, str]] = {
    "empty": ("", "the host's answer is empty"),
    "blank": (" \n\n", "the host's answer is empty"),
    "other_line": (OTHERS, f'the first is "{OTHERS[:37]}..."'),
    "part_of_a_line": (f"x{EXPECTED}", "no line of the host's answer is the expected one"),
    "longer_line": (f"{EXPECTED}0", "no line of the host's answer is the expected one"),
    "upper_case": (EXPECTED.upper(), "no line of the host's answer is the expected one"),
    "control_characters": ("\x1b[2Jhi\x07", 'the first is "?[2Jhi?"'),
    "not_text": ("\udc80".encode("utf-8", "surrogatepass").decode("latin-1"), "no line"),
    "too_long": ("x" * (OWNERSHIP_BYTES_MAX + 1), "has more than 65,536 bytes"),
    "too_long_with_the_line": (
        "x\n" * OWNERSHIP_BYTES_MAX + EXPECTED,
        "has more than 65,536 bytes",
    ),
}


@pytest.mark.parametrize(("text", "fault"), NOT_PROVING.values(), ids=NOT_PROVING)
def test_check_other_text_does_not_prove(loop: LoopThread, text: str, fault: str) -> None:
    seen = loop.enter(a_target(text=text))
    answer = _check(seen.endpoint)
    assert not answer.is_proven
    assert fault in answer.detail
    assert answer.detail.endswith(
        f"; the line {EXPECTED} has to stand at {ownership_url(seen.endpoint)}, as text/plain"
    )
    assert answer.detail.isprintable()


def test_check_echoes_little_of_what_a_host_says(loop: LoopThread) -> None:
    body = "".join(chr(0x4E00 + number) for number in range(500))
    detail = _check(loop.enter(a_target(text=body)).endpoint).detail
    assert sum(letter in body for letter in detail) == ECHO_CHARS_MAX - len("...")


@pytest.mark.parametrize("status", [201, 204, 301, 302, 304, 307, 308, 401, 404, 410, 429, 500])
def test_check_other_status_does_not_prove(loop: LoopThread, status: int) -> None:
    text = "" if status in (204, 304) else EXPECTED
    seen = loop.enter(a_target(status, text=text))
    answer = _check(seen.endpoint)
    assert not answer.is_proven
    assert answer.detail.startswith(f"the host answered {status}")
    assert ("redirect" in answer.detail) == (300 <= status < 400)


def test_check_redirect_is_not_followed(loop: LoopThread) -> None:
    inner = loop.enter(a_target(text=EXPECTED))
    headers = {"Location": ownership_url(inner.endpoint)}
    outer = loop.enter(a_target(302, headers=headers, text=EXPECTED))
    answer = _check(outer.endpoint)
    assert not answer.is_proven
    assert inner.endpoint not in answer.detail
    assert (len(outer.requests), len(inner.requests)) == (1, 0)


@pytest.mark.parametrize(
    "media_type",
    ["text/html", "text/html; charset=utf-8", "application/json", "text/plainer", "", "nonsense"],
)
def test_check_other_media_type_does_not_prove(loop: LoopThread, media_type: str) -> None:
    seen = _raw(
        loop,
        f"HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {len(EXPECTED)}\r\n\r\n"
        f"{EXPECTED}".encode(),
    )
    answer = _check(seen.endpoint)
    assert not answer.is_proven
    assert "not text/plain" in answer.detail


@pytest.mark.parametrize("media_type", ["text/plain; charset=utf-8", "TEXT/PLAIN;charset=no-such"])
def test_check_media_type_with_parameters_proves(loop: LoopThread, media_type: str) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\nconnection: close\r\n\r\n"
    assert _check(_raw(loop, (head + EXPECTED).encode()).endpoint).is_proven


FAULTY: dict[str, tuple[bytes, str]] = {
    "packed": (PLAIN + b"content-encoding: gzip\r\nconnection: close\r\n\r\n\x1f\x8b", "packed"),
    "not_http": (b"220 mail.example ESMTP\r\n\r\n", "something that is not HTTP"),
    "closes": (b"", "closed the connection without an answer"),
    "cut_short": (PLAIN + b"content-length: 900\r\n\r\n" + EXPECTED.encode(), "broke"),
    "bad_chunks": (PLAIN + b"transfer-encoding: chunked\r\n\r\nzz\r\n", "127.0.0.1:"),
    "endless_100": (b"HTTP/1.1 100 Continue\r\n\r\n" * 500, "broke"),
    "huge_head": (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\n\r\n", "not HTTP"),
}


@pytest.mark.parametrize(("sent", "fault"), FAULTY.values(), ids=FAULTY)
def test_check_of_a_faulty_host_says_what_it_does(
    loop: LoopThread, sent: bytes, fault: str
) -> None:
    answer = _check(_raw(loop, sent).endpoint)
    assert not answer.is_proven
    assert fault in answer.detail


@pytest.mark.parametrize(
    "sent",
    [b"", b"HTTP/1.1 200 OK\r\ncontent-", PLAIN + b"content-length: 9000\r\n\r\n" + b"x" * 8_000],
    ids=["silent", "slow_head", "slow_body"],
)
def test_check_of_a_slow_host_ends(loop: LoopThread, sent: bytes) -> None:
    seen = _raw(loop, sent, then_waits=True)
    answer = _check(seen.endpoint, timeout_s=0.2)
    assert not answer.is_proven
    assert "gave no whole answer within 0.2 s" in answer.detail


def test_check_of_an_unpacked_flood_stops_reading(loop: LoopThread) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(PLAIN + b"\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    answer = _check(loop.enter(a_raw_target(flood)).endpoint)
    assert "has more than 65,536 bytes" in answer.detail


def test_check_where_nothing_listens_says_so() -> None:
    answer = _check("http://127.0.0.1:1025/hook")
    assert not answer.is_proven
    assert answer.detail.startswith("no connection to 127.0.0.1:1025 (Connection refused)")


REFUSED = {
    "loopback": ("http://127.0.0.1:8123/", "allow loopback targets"),
    "localhost": ("http://localhost:8123/", "allow loopback targets"),
    "private": ("https://10.0.0.1/", "private address"),
    "metadata": ("http://169.254.169.254/latest", "cloud metadata address"),
    "port": ("https://example.com:22/", "port 22 is not allowed"),
    "scheme": ("ftp://example.com/", "only http and https"),
}


@pytest.mark.parametrize(("endpoint", "fault"), REFUSED.values(), ids=REFUSED)
def test_check_of_a_refused_endpoint_connects_nowhere(endpoint: str, fault: str) -> None:
    answer = _check(endpoint, allow_loopback=False)
    assert not answer.is_proven
    assert fault in answer.detail


class _Names(AbstractResolver):
    """Every name has this one address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.questions = 0

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        self.questions += 1
        version = ip_address(self._address).version
        return [
            ResolveResult(
                hostname=host,
                host=self._address,
                port=port,
                family={4: 2, 6: 10}[version],
                proto=6,
                flags=0,
            )
        ]

    async def close(self) -> None:
        return


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:10.0.0.1"])
def test_check_of_a_name_with_an_inner_address_is_refused(loop: LoopThread, address: str) -> None:
    seen = loop.enter(a_target(text=EXPECTED))
    endpoint = seen.endpoint.replace("127.0.0.1", "inner.example")
    answer = _check(endpoint, allow_loopback=False, resolver=_Names(address))
    assert not answer.is_proven
    assert f"is refused, it resolves to {address}" in answer.detail
    assert seen.requests == []


def test_check_by_name_sends_the_name_and_can_be_repeated(loop: LoopThread) -> None:
    seen = loop.enter(a_target(text=EXPECTED))
    names = _Names("127.0.0.1")
    port = HttpOwnership(allow_loopback=True, resolver=names)
    endpoint = seen.endpoint.replace("127.0.0.1", "hook.example")
    answers = [port.check(endpoint, expected=EXPECTED) for _ in range(3)]
    assert [answer.is_proven for answer in answers] == [True] * 3
    assert {fields["Host"].split(":")[0] for fields, _ in seen.requests} == {"hook.example"}
    assert names.questions == 3


def test_check_ignores_proxy_variables(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, seen = loop.enter(a_target(text="no")), loop.enter(a_target(text=EXPECTED))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.endpoint)
    monkeypatch.setenv("no_proxy", "")
    assert _check(seen.endpoint).is_proven
    assert proxy.requests == []


def _tls(loop: LoopThread) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    answer = PLAIN + f"connection: close\r\n\r\n{EXPECTED}".encode()
    return loop.enter(a_raw_target(_sending(answer), ssl_context=context)).endpoint


def test_check_over_trusted_tls_proves(loop: LoopThread) -> None:
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    assert _check(_tls(loop), ssl_context=trusting).is_proven


def test_check_over_untrusted_tls_does_not_prove(loop: LoopThread) -> None:
    answer = _check(_tls(loop))
    assert not answer.is_proven
    assert "no valid TLS certificate (self-signed certificate)" in answer.detail


def test_check_of_an_http_proof_does_not_serve_an_https_endpoint(loop: LoopThread) -> None:
    seen = loop.enter(a_target(text=EXPECTED))
    answer = _check(seen.endpoint.replace("http", "https", 1))
    assert not answer.is_proven
    assert "check that the port speaks https" in answer.detail
