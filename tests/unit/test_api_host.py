"""The server of the API: whom it takes a caller for, and how a caller knows it."""

import json
from http.client import HTTPConnection
from pathlib import Path
from socket import socket
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from adapters.clock_fixed import FixedClock
from control_api.app import create_app
from control_api.health import Health
from control_api.services import ApiSettings
from punctual.api_host import ApiServer, services_of, serving
from punctual.client import ApiError, connect_running
from punctual.credentials import ensure_local_token
from punctual.data_folder import open_data_folder
from punctual.listening import listening
from punctual.local_files import ToldServer, tell_server, told_server
from schemas.server_proofs import proof_of


def a_listener() -> socket:
    return listening("127.0.0.1", 0, data=Path("none"))


async def _tell_caller(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers with the address and the scheme it is told."""
    if scope["type"] != "http":
        return
    body = json.dumps([scope["client"][0], scope["scheme"]]).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize(
    "headers", [{"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}, {}]
)
def test_server_takes_nobody_s_word_for_an_address(tmp_path: Path, headers: dict[str, str]) -> None:
    folder = open_data_folder(tmp_path, create=True)
    services = services_of(folder, FixedClock(), settings=ApiSettings())
    with ApiServer(_tell_caller, services=services, listener=a_listener()) as server:
        connection = HTTPConnection(urlsplit(server.url).netloc)
        connection.request("GET", "/", headers=headers)
        told = json.loads(connection.getresponse().read())
        connection.close()
    folder.close()
    assert told == ["127.0.0.1", "http"]


class Impostor:
    """An application on the port of a server that is gone, which says whatever it likes."""

    def __init__(self, answer: Any) -> None:
        self.asked: list[tuple[str, list[bytes]]] = []
        self._body = json.dumps(answer).encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        tokens = [value for name, value in scope["headers"] if name == b"authorization"]
        self.asked.append((scope["path"], tokens))
        headers = [(b"content-length", str(len(self._body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self._body})


CHALLENGE: Final = "5" * 32


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "alive", "instance": "a-secret"},
        {"status": "alive", "proof": "a-secret"},
        {"status": "alive", "proof": proof_of("a-secret", CHALLENGE)},  # heard at another time
        {"status": "alive", "proof": "é"},
        {"status": "alive", "proof": None},
        ["alive"],
    ],
    ids=range(6),
)
def test_server_that_proves_nothing_is_sent_no_token(tmp_path: Path, answer: Any) -> None:
    folder = open_data_folder(tmp_path, create=True)
    services = services_of(folder, FixedClock(), settings=ApiSettings())
    ensure_local_token(tmp_path, folder.store, now_us=FixedClock().now().earliest_us)
    impostor = Impostor(answer)
    with ApiServer(impostor, services=services, listener=a_listener()) as server:
        tell_server(tmp_path, ToldServer(server.url, "a-secret"))
        assert connect_running(tmp_path, server=None, token=None) is None
    folder.close()
    assert impostor.asked == [("/healthz", [])]


def test_server_that_left_its_word_is_known_and_tells_its_secret_to_nobody(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path, create=True)
    with serving(folder, FixedClock(), host="127.0.0.1", port=0, allow_loopback=False) as server:
        told = told_server(tmp_path)
        assert told is not None
        assert len(told.instance) == 64
        assert told.instance not in repr(server.services.settings)
        asking = connect_running(tmp_path, server=None, token=None)
        assert asking is not None
        with asking:
            assert asking.get("/v1/tenants")["items"] == []
            assert asking.get("/healthz") == {"status": "alive", "proof": None}
            proof = asking.get("/healthz", challenge=CHALLENGE)["proof"]
            assert proof == proof_of(told.instance, CHALLENGE)
            with pytest.raises(ApiError, match="challenge: ") as refused:
                asking.get("/healthz", challenge="short")
    folder.close()
    assert refused.value.status == 422


def test_server_without_a_secret_proves_nothing(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path, create=True)
    services = services_of(folder, FixedClock(), settings=ApiSettings())
    with TestClient(create_app(services, health=Health(services))) as client:
        answer = client.get("/healthz", params={"challenge": CHALLENGE})
    folder.close()
    assert answer.json() == {"status": "alive", "proof": None}
