"""`fires --follow`: each change once, and through restarts of the service."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ports.errors import StoreRefused
from punctual.client import ApiClient, ApiError, connect
from punctual.commands.follow import changes
from punctual.commands.steady import SteadyReader
from punctual.transports import Answer, NoAnswer
from tests.support.command_line import START, CommandLine, command_line
from tests.support.definitions import a_trigger
from tests.support.manual_clock import ManualClock
from tests.support.scripted_target import BUSY, REFUSED


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant and one target at 09:00 on 1 June 2026; nothing runs."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


class Stumbling:
    """A transport that gives one answer after the other; None is no answer."""

    def __init__(self, *answers: Answer | None) -> None:
        self.answers = list(answers)
        self.is_closed = False

    def send(self, method: str, target: str, **more: Any) -> Answer:
        answer = self.answers.pop(0)
        if answer is None:
            raise NoAnswer("Connection refused", was_sent=False)
        return answer

    def close(self) -> None:
        self.is_closed = True


GOOD = Answer(200, {}, b'{"items": []}')
AWAY = Answer(
    503, {}, b'{"type": "urn:punctual:problem:x", "detail": "store: it is busy", "status": 503}'
)


def client_of(transport: Stumbling) -> ApiClient:
    return ApiClient(transport, token="t", place="http://one", tries=1)


def test_follow_tells_each_change_once_in_order(punctual: CommandLine) -> None:
    service = punctual.service
    service.target.script = lambda fire: BUSY if not service.target.receipts else REFUSED
    service.apply(a_trigger("minutely"))
    service.start()
    moments = iter(["2026-06-01T09:01:00.005Z", "2026-06-01T09:01:20Z", "2026-06-01T09:02:30Z"])
    clock = ManualClock(service.now_us, service.now_us, 0)

    def wait() -> None:
        moment = next(moments, None)
        if moment is None:
            raise KeyboardInterrupt
        service.advance_to(moment)
        clock.advance(service.now_us - clock.wall_us)

    told: list[tuple[str, str]] = []

    def read_all(client: ApiClient) -> None:
        def ask(cursor: str | None) -> Any:
            return client.get("/v1/fires", changed_since=START, cursor=cursor, limit=500)

        for fire in changes(ask, wait=wait):
            told.append((fire["scheduled_instant"][11:16], fire["state"]))

    with (
        connect(punctual.data, server=None, token=None, clock=clock) as client,
        pytest.raises(KeyboardInterrupt),
    ):
        read_all(client)
    assert told == [("09:01", "held"), ("09:01", "refused"), ("09:02", "refused")]


def test_reader_waits_for_the_service_to_come_back_and_says_so_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    waits: list[float] = []
    reader = SteadyReader(client_of(Stumbling(None, None, GOOD)), lambda: None, sleep=waits.append)
    assert reader.get("/v1/fires") == {"items": []}
    assert len(waits) == 2
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "(server: http://one does not answer (Connection refused): start it with `punctual up`, "
        "or name another with --server; waiting)",
        "(it answers again)",
    ]


def test_reader_goes_on_with_a_service_that_serves_elsewhere_now() -> None:
    later = [Stumbling(None, GOOD), Stumbling(GOOD)]
    found = iter(later)
    reader = SteadyReader(
        client_of(Stumbling(GOOD, None)),
        lambda: client_of(next(found)),
        sleep=lambda wait_s: None,
    )
    assert reader.get("/v1/fires") == {"items": []}
    assert reader.get("/v1/fires") == {"items": []}
    assert [each.is_closed for each in later] == [True, False]
    reader.close()
    assert later[1].is_closed


def test_reader_waits_for_a_store_that_is_away_but_not_for_a_refusal() -> None:
    reader = SteadyReader(client_of(Stumbling(AWAY, GOOD)), lambda: None, sleep=lambda wait_s: None)
    assert reader.get("/v1/fires") == {"items": []}
    refused = Stumbling(AWAY._replace(status=403))
    with pytest.raises(ApiError):
        SteadyReader(client_of(refused), lambda: None).get("/v1/fires")


def test_client_without_a_server_refuses_where_the_reader_waits() -> None:
    with pytest.raises(StoreRefused):
        client_of(Stumbling(None)).get("/v1/fires")
