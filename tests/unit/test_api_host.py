"""The server of the API: whom it takes a caller for."""

import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from adapters.clock_fixed import FixedClock
from control_api.services import ApiSettings
from punctual.api_host import ApiServer, services_of
from punctual.data_folder import open_data_folder


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
    with ApiServer(_tell_caller, services=services, host="127.0.0.1", port=0) as server:
        connection = HTTPConnection(urlsplit(server.url).netloc)
        connection.request("GET", "/", headers=headers)
        told = json.loads(connection.getresponse().read())
        connection.close()
    folder.close()
    assert told == ["127.0.0.1", "http"]
