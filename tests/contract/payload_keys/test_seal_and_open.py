"""Payload keys: what is sealed opens for its own tenant and context only."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import repeat
from multiprocessing import get_context

import pytest

from ports.errors import PayloadUnreadable
from ports.payload_keys import PayloadKeysPort
from tests.support.key_races import RACE_CONTEXT, seal_first

Opener = Callable[[], PayloadKeysPort]
PLAIN = b'{"report": "weekly"}'


@pytest.mark.parametrize("plain", [b"", b"x", bytes(range(256)), b"a" * 65_536])
def test_open_returns_what_was_sealed(keys: PayloadKeysPort, plain: bytes) -> None:
    assert keys.open("acme", keys.seal("acme", plain, context="c"), context="c") == plain


def test_seal_hides_the_payload(keys: PayloadKeysPort) -> None:
    assert PLAIN not in keys.seal("acme", PLAIN, context="c")


def test_seal_twice_gives_different_bytes(keys: PayloadKeysPort) -> None:
    assert keys.seal("acme", PLAIN, context="c") != keys.seal("acme", PLAIN, context="c")


def test_open_through_another_handle_works(open_keys: Opener) -> None:
    sealed = open_keys().seal("acme", PLAIN, context="c")
    assert open_keys().open("acme", sealed, context="c") == PLAIN


def test_open_with_another_context_is_unreadable(keys: PayloadKeysPort) -> None:
    sealed = keys.seal("acme", PLAIN, context="c")
    with pytest.raises(PayloadUnreadable):
        keys.open("acme", sealed, context="d")


@pytest.mark.parametrize("tenant_id", ["other", "ACME", "stranger", "../acme", ""])
def test_open_by_another_tenant_is_unreadable(keys: PayloadKeysPort, tenant_id: str) -> None:
    sealed = keys.seal("acme", PLAIN, context="c")
    if tenant_id != "stranger":
        keys.seal(tenant_id, PLAIN, context="c")
    with pytest.raises(PayloadUnreadable):
        keys.open(tenant_id, sealed, context="c")


def test_open_does_not_join_tenant_and_context_loosely(keys: PayloadKeysPort) -> None:
    sealed = keys.seal("acme", PLAIN, context="bc")
    with pytest.raises(PayloadUnreadable):
        keys.open("acmeb", sealed, context="c")


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(lambda sealed: sealed[:-1], id="cut"),
        pytest.param(lambda sealed: sealed + b"\0", id="longer"),
        pytest.param(lambda sealed: sealed[:-1] + bytes([sealed[-1] ^ 1]), id="last_bit"),
        pytest.param(lambda sealed: bytes([sealed[0] ^ 1]) + sealed[1:], id="first_bit"),
        pytest.param(lambda sealed: b"", id="empty"),
        pytest.param(lambda sealed: PLAIN, id="never_sealed"),
    ],
)
def test_open_of_tampered_bytes_is_unreadable(
    keys: PayloadKeysPort, tamper: Callable[[bytes], bytes]
) -> None:
    sealed = keys.seal("acme", PLAIN, context="c")
    with pytest.raises(PayloadUnreadable):
        keys.open("acme", tamper(sealed), context="c")


def test_first_seal_by_racing_processes_makes_one_key(open_keys: Opener) -> None:
    tenants = [f"tenant-{number}" for number in range(30)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(seal_first, repeat(open_keys, 2), repeat(tenants)))
    keys = open_keys()
    for sealed in results:
        opened = [
            keys.open(tenant, each, context=RACE_CONTEXT)
            for tenant, each in zip(tenants, sealed, strict=True)
        ]
        assert opened == [tenant.encode() for tenant in tenants]


def test_first_seal_by_racing_threads_makes_one_key(open_keys: Opener) -> None:
    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(seal_first, repeat(open_keys, 8), repeat(["acme"])))
    keys = open_keys()
    assert {keys.open("acme", each[0], context=RACE_CONTEXT) for each in sealed} == {b"acme"}
