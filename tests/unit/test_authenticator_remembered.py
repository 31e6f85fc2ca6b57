"""What the authenticator knows without asking the store, which is all that the loop may ask."""

from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.authenticator_tokens import TokenAuthenticator, token_hash
from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.store_sqlite import open_sqlite_store
from ports.changes import CreateToken, RevokeToken
from ports.principals import GrantRecord, PrincipalsPort, TokenRecord
from ports.store import Store
from scheduling.instants import SECOND_US
from scheduling.limits import TOKEN_CACHE_US

NOW_US = 1_000_000 * SECOND_US
TOKEN = "pun_" + "x" * 43


@pytest.fixture
def store(tmp_path: Path) -> Store:
    keys = TinkPayloadKeys(tmp_path / "keys")
    store = open_sqlite_store(tmp_path / "store.db", payload_keys=keys, now_us=NOW_US)
    token = CreateToken(
        principal_id="ada",
        token_id="one",
        token_hash=token_hash(TOKEN),
        expires_us=NOW_US + 3 * SECOND_US,
    )
    store.registry.apply([token], now_us=NOW_US, actor="test")
    return store


def test_remembered_token_not_yet_proven_is_none(store: Store) -> None:
    assert TokenAuthenticator(store.principals).remembered(TOKEN, now_us=NOW_US) is None


def test_remembered_token_proven_just_now_is_its_principal(store: Store) -> None:
    authenticator = TokenAuthenticator(store.principals)
    proven = authenticator.authenticate(TOKEN, now_us=NOW_US)
    assert proven is not None
    assert authenticator.remembered(TOKEN, now_us=NOW_US + SECOND_US) is proven


@pytest.mark.parametrize(
    "later_us",
    [
        pytest.param(3 * SECOND_US, id="expired"),
        pytest.param(TOKEN_CACHE_US, id="proven-too-long-ago"),
        pytest.param(-TOKEN_CACHE_US, id="clock-set-back"),
    ],
)
def test_remembered_token_not_to_be_trusted_any_more_is_none(store: Store, later_us: int) -> None:
    authenticator = TokenAuthenticator(store.principals)
    assert authenticator.authenticate(TOKEN, now_us=NOW_US) is not None
    assert authenticator.remembered(TOKEN, now_us=NOW_US + later_us) is None


def test_remembered_token_revoked_in_this_process_is_none_once_forgotten(store: Store) -> None:
    authenticator = TokenAuthenticator(store.principals)
    authenticator.authenticate(TOKEN, now_us=NOW_US)
    store.registry.apply([RevokeToken(token_id="one")], now_us=NOW_US, actor="test")
    authenticator.forget()
    assert authenticator.remembered(TOKEN, now_us=NOW_US) is None
    assert authenticator.authenticate(TOKEN, now_us=NOW_US) is None


class _Interrupted(PrincipalsPort):
    """Something happens between the reading of a token and of its grants."""

    def __init__(self, inner: PrincipalsPort, happens: Callable[[], None]) -> None:
        self._inner = inner
        self._happens = happens

    def token(self, token_hash: str) -> TokenRecord | None:
        return self._inner.token(token_hash)

    def tokens(
        self, *, before: tuple[int, str] | None = None, limit: int | None = None
    ) -> list[TokenRecord]:
        return self._inner.tokens(before=before, limit=limit)

    def grants(
        self,
        principal_id: str | None = None,
        *,
        after: GrantRecord | None = None,
        limit: int | None = None,
    ) -> list[GrantRecord]:
        found = self._inner.grants(principal_id, after=after, limit=limit)
        self._happens()
        return found


def test_remembered_token_read_before_it_was_forgotten_is_none(store: Store) -> None:
    authenticator = TokenAuthenticator(
        _Interrupted(store.principals, lambda: authenticator.forget())
    )
    authenticator.authenticate(TOKEN, now_us=NOW_US)
    assert authenticator.remembered(TOKEN, now_us=NOW_US) is None
