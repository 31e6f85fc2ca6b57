"""Thirty-two clients at once against a real server on a real file, while it decides and sends."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest

from punctual.local_files import read_local_token, told_server
from scheduling.instants import SECOND_US, from_text
from tests.e2e.conftest import Start
from tests.support.http_receiver import SECRET, HttpReceiver
from tests.support.service_process import ServiceProcess, wait_until

CLIENTS: Final = 32
TENANT: Final = "/v1/tenants/acme"
COUNTER: Final = f"{TENANT}/triggers/counter"


class Got(NamedTuple):
    status: int
    body: Any
    headers: dict[str, str]


@dataclass
class Caller:
    """One client of the running server; each thread has a connection of its own."""

    url: str
    token: str
    connections: list[http.client.HTTPConnection] = field(default_factory=list)
    _own: threading.local = field(default_factory=threading.local)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        **params: Any,
    ) -> Got:
        if not hasattr(self._own, "connection"):
            self._own.connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
            self.connections.append(self._own.connection)
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        query = f"?{urlencode(params)}" if params else ""
        content = None if body is None else json.dumps(body)
        self._own.connection.request(method, path + query, content, sent)
        answer = self._own.connection.getresponse()
        told = {name.lower(): text for name, text in answer.getheaders()}
        return Got(answer.status, json.loads(answer.read()), told)

    def all_of(self, path: str, **params: Any) -> list[Any]:
        """Every item of a list."""
        found: list[Any] = []
        while True:
            page = self.call("GET", path, limit=1_000, **params).body
            found += page["items"]
            if page["cursor"] is None:
                return found
            params["cursor"] = page["cursor"]


class Serving(NamedTuple):
    caller: Caller
    process: ServiceProcess


@pytest.fixture
def serving(start: Start, data: Path, receiver: HttpReceiver) -> Iterator[Serving]:
    """A service with a tenant and a target; at the end nothing stands in its log of faults."""
    process = start("--port", 0)
    process.wait_for_out("API: ")
    told, token = told_server(data), read_local_token(data)
    assert told is not None
    assert token is not None
    caller = Caller(told.url, token)
    assert caller.call("PUT", TENANT, {}).status == 201
    target = {"url": receiver.url(), "secret": SECRET}
    assert caller.call("PUT", f"{TENANT}/targets/hook", target).status == 201
    yield Serving(caller, process)
    for connection in caller.connections:
        connection.close()
    assert process.stop() == 0
    assert process.err == []


def _trigger(**changes: Any) -> dict[str, Any]:
    return {"schedule": "0 0 1 1 *", "zone": "UTC", "target": "hook", **changes}


def _at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """`act(n)` for n in range(count), by all clients at once."""
    together = threading.Barrier(CLIENTS)
    begun = threading.local()

    def begin(n: int) -> Any:
        if not hasattr(begun, "yes"):
            begun.yes = True
            together.wait(30)
        return act(n)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(begin, range(count)))


def test_three_hundred_triggers_are_made_and_none_is_lost(serving: Serving) -> None:
    caller = serving.caller
    made = _at_once(300, lambda n: caller.call("PUT", f"{TENANT}/triggers/job-{n:03}", _trigger()))
    assert {got.status for got in made} == {201}
    assert {got.body["revision"] for got in made} == {1}
    assert len({got.body["trigger_id"] for got in made}) == 300
    names = [each["name"] for each in caller.all_of("/v1/triggers", tenant="acme")]
    assert names == [f"job-{n:03}" for n in range(300)]
    assert len(caller.all_of("/v1/audit", action="trigger_created")) == 300


def test_no_update_of_one_trigger_is_lost(serving: Serving) -> None:
    """Each client counts up by one, on the revision that it has read, until it wins thrice."""
    caller = serving.caller
    assert caller.call("PUT", COUNTER, _trigger(max_fires=1)).status == 201
    rounds = 3
    refused = 0

    def count_up(client: int) -> list[int]:
        nonlocal refused
        won: list[int] = []
        while len(won) < rounds:
            read = caller.call("GET", COUNTER)
            count = read.body["definition"]["max_fires"] + 1
            etag = {"If-Match": read.headers["etag"]}
            got = caller.call("PUT", COUNTER, _trigger(max_fires=count), etag)
            if got.status == 200:
                assert got.body["change"] == "edited"
                won.append(got.body["revision"])
            else:
                assert got.status == 412, got
                refused += 1
        return won

    revisions = _at_once(CLIENTS, count_up)
    for won in revisions:
        assert won == sorted(set(won)), "revisions strictly rise for each client"
    assert sorted(chain.from_iterable(revisions)) == list(range(2, 2 + rounds * CLIENTS))
    final = caller.call("GET", COUNTER).body
    assert final["definition"]["max_fires"] == 1 + rounds * CLIENTS
    assert (final["version"], final["revision"]) == (1 + rounds * CLIENTS,) * 2
    assert refused > 0, "nobody ever met another"
    edits = caller.all_of("/v1/audit", action="trigger_edited")
    assert len(edits) == rounds * CLIENTS


def test_pausing_and_resuming_while_it_fires_loses_no_instant(
    serving: Serving, receiver: HttpReceiver
) -> None:
    caller = serving.caller
    path = f"{TENANT}/triggers/tick"
    put = caller.call("PUT", path, _trigger(schedule="* * * * * *", missed="fire_all"))
    created_us = from_text(put.body["trigger"]["created_at"])
    wait_until(lambda: bool(receiver.of("tick")), "it fires")

    def disturb(client: int) -> list[int]:
        acts = (":pause", ":resume", ":run") if client % 2 else (":resume", ":pause", ":run")
        seen: list[int] = []
        for act in acts * 2:
            got = caller.call("POST", path + act, {})
            assert got.status in (200, 202), got
            if got.body.get("change") in ("paused", "resumed"):
                seen.append(got.body["revision"])
        return seen

    revisions = _at_once(CLIENTS, disturb)
    for seen in revisions:
        assert seen == sorted(set(seen))
    changed = sorted(chain.from_iterable(revisions))
    assert changed == list(range(2, 2 + len(changed))), "no revision was given twice or left out"
    caller.call("POST", path + ":resume", {"policy": "skip"})
    fired = len(receiver.of("tick"))
    wait_until(lambda: len(receiver.of("tick")) > fired, "it fires again")
    caller.call("POST", path + ":pause", {})
    through_us = from_text(caller.call("GET", path).body["decided_through"])
    rows = caller.all_of("/v1/fires", tenant="acme", trigger="tick")
    covered: list[int] = []
    for row in rows:
        if row["sequence"] == 0:
            first_us = from_text(row["scheduled_instant"])
            covered += (first_us + n * SECOND_US for n in range(row["instant_count"]))
    first_us = (created_us // SECOND_US + 1) * SECOND_US
    assert sorted(covered) == list(range(first_us, through_us + 1, SECOND_US))
    runs = [row for row in rows if row["origin"] == "manual"]
    assert len(runs) == 2 * CLIENTS
    assert len({row["sequence"] for row in runs}) == len(runs)


def test_one_key_has_one_effect_however_many_send_it(serving: Serving) -> None:
    caller = serving.caller
    key = {"Idempotency-Key": "once"}
    path = f"{TENANT}/triggers/raced"
    made = _at_once(CLIENTS, lambda n: caller.call("PUT", path, _trigger(), key))
    assert {got.status for got in made} == {201}
    assert len({got.body["trigger_id"] for got in made}) == 1
    assert sum("idempotent-replayed" not in got.headers for got in made) == 1
    run = {"Idempotency-Key": "run"}
    runs = _at_once(CLIENTS, lambda n: caller.call("POST", path + ":run", {}, run))
    assert {got.status for got in runs} == {202}
    assert len({got.body["fire_key"] for got in runs}) == 1
    assert len(caller.all_of("/v1/fires", tenant="acme", trigger="raced")) == 1
    body = {"principal": "ci", "grants": [{"kind": "read"}]}
    token = {"Idempotency-Key": "token"}
    tokens = _at_once(CLIENTS, lambda n: caller.call("POST", "/v1/tokens", body, token))
    assert sorted({got.status for got in tokens}) == [201, 409]
    assert sum(got.status == 201 for got in tokens) == 1
    others = _at_once(
        CLIENTS, lambda n: caller.call("PUT", f"{TENANT}/triggers/other-{n}", _trigger(), key)
    )
    assert {got.status for got in others} == {422}, "the key belongs to another request"


def test_one_name_is_made_once_however_many_want_it(serving: Serving) -> None:
    caller = serving.caller
    path = f"{TENANT}/triggers/wanted"
    create = {"If-None-Match": "*"}
    made = _at_once(CLIENTS, lambda n: caller.call("PUT", path, _trigger(max_fires=n + 1), create))
    assert sorted(got.status for got in made) == [201] + [412] * (CLIENTS - 1)
    (winner,) = (got for got in made if got.status == 201)
    assert caller.call("GET", path).body["definition"] == winner.body["trigger"]["definition"]
