"""Payload keys: deleting a tenant's key deletes its payloads."""

from collections.abc import Callable

import pytest

from ports.errors import PayloadUnreadable
from ports.payload_keys import PayloadKeysPort

Opener = Callable[[], PayloadKeysPort]


def test_delete_makes_payloads_unreadable_at_once(keys: PayloadKeysPort) -> None:
    sealed = keys.seal("acme", b"x", context="c")
    assert keys.delete("acme") is True
    with pytest.raises(PayloadUnreadable, match="the payload key of acme is gone"):
        keys.open("acme", sealed, context="c")


def test_delete_reaches_a_handle_that_used_the_key_before(open_keys: Opener) -> None:
    mine, other = open_keys(), open_keys()
    sealed = mine.seal("acme", b"x", context="c")
    assert mine.open("acme", sealed, context="c") == b"x"
    other.delete("acme")
    with pytest.raises(PayloadUnreadable):
        mine.open("acme", sealed, context="c")


def test_delete_without_a_key_says_so(keys: PayloadKeysPort) -> None:
    assert keys.delete("acme") is False


def test_delete_leaves_other_tenants_alone(keys: PayloadKeysPort) -> None:
    sealed = keys.seal("other", b"x", context="c")
    keys.seal("acme", b"x", context="c")
    keys.delete("acme")
    assert keys.open("other", sealed, context="c") == b"x"


def test_seal_after_delete_makes_a_new_key_that_opens_nothing_old(open_keys: Opener) -> None:
    mine, other = open_keys(), open_keys()
    old = mine.seal("acme", b"old", context="c")
    other.delete("acme")
    new = other.seal("acme", b"new", context="c")
    assert mine.open("acme", new, context="c") == b"new"
    with pytest.raises(PayloadUnreadable):
        mine.open("acme", old, context="c")
