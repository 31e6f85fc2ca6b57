"""Each port's fixtures, once for every adapter in the registry."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ports.attempt_tokens import AttemptTokensPort
from ports.events import EventsPort
from ports.lanes import LanesPort
from ports.payload_keys import PayloadKeysPort
from ports.store import Store
from ports.time_authority import TimeAuthorityPort
from tests.contract.factories import (
    ATTEMPT_TOKENS,
    EVENTS,
    LANES,
    PAYLOAD_KEYS,
    STORES,
    TIME_AUTHORITIES,
    EventsHarness,
    LanesHarness,
    StoreHarness,
)
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank


@pytest.fixture(params=STORES)
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreHarness]:
    harness = STORES[request.param](tmp_path)
    yield harness
    harness.close()


@pytest.fixture
def store(harness: StoreHarness) -> Store:
    return harness.open()


@pytest.fixture
def peek(harness: StoreHarness) -> StorePeek:
    return harness.peek


@pytest.fixture
def crank(store: Store) -> HandCrank:
    return HandCrank(store).begin()


@pytest.fixture(params=LANES)
def lanes_harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LanesHarness]:
    harness = LANES[request.param](tmp_path)
    yield harness
    harness.close()


@pytest.fixture
def lanes(lanes_harness: LanesHarness) -> LanesPort:
    return lanes_harness.open()


@pytest.fixture(params=EVENTS)
def events_harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EventsHarness]:
    harness = EVENTS[request.param](tmp_path)
    yield harness
    harness.close()


@pytest.fixture
def events(events_harness: EventsHarness) -> EventsPort:
    return events_harness.open()


@pytest.fixture(params=PAYLOAD_KEYS)
def open_keys(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], PayloadKeysPort]:
    """Each call is another handle on the same keys."""
    return PAYLOAD_KEYS[request.param](tmp_path)


@pytest.fixture
def keys(open_keys: Callable[[], PayloadKeysPort]) -> PayloadKeysPort:
    return open_keys()


@pytest.fixture(params=ATTEMPT_TOKENS)
def open_tokens(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], AttemptTokensPort]:
    """Each call is another handle on the same installation's key."""
    return ATTEMPT_TOKENS[request.param](tmp_path)


@pytest.fixture
def tokens(open_tokens: Callable[[], AttemptTokensPort]) -> AttemptTokensPort:
    return open_tokens()


@pytest.fixture(params=TIME_AUTHORITIES)
def time_authority(request: pytest.FixtureRequest) -> TimeAuthorityPort:
    return TIME_AUTHORITIES[request.param]()
