"""Attempt tokens: what a minted one says, and to whom."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

import jwt
import pytest

from ports.attempt_tokens import AttemptClaims, AttemptTokensPort
from scheduling.instants import from_text
from scheduling.keys import FireKey
from scheduling.limits import ATTEMPT_BUDGET_MAX
from tests.support.key_races import mint_first

Opener = Callable[[], AttemptTokensPort]
KEY = FireKey("acme", "t00112233445566778899", from_text("2026-03-02T09:00:00Z"))
NOW_US = from_text("2026-03-02T09:00:00Z")
EXPIRES_US = from_text("2026-03-02T09:00:15Z")


def _mint(tokens: AttemptTokensPort, key: FireKey = KEY, n: int = 1) -> str:
    return tokens.mint(
        key, n, audience="https://hook.example", now_us=NOW_US, expires_us=EXPIRES_US
    )


@pytest.mark.parametrize(
    "key",
    [
        KEY,
        FireKey("acme", "t0", 0, 999_999_999),
        FireKey("acme", "t0", -1_000_001),
        FireKey("tenant#1", "t0", 1),
        FireKey("größe/b", "t0", 1),
        FireKey("a" * 128, "t00112233445566778899", NOW_US, 1),
    ],
    ids=["plain", "manual", "before_1970", "hash_sign", "not_ascii", "long"],
)
@pytest.mark.parametrize("n", [1, ATTEMPT_BUDGET_MAX])
def test_mint_then_verify_gives_the_attempt(
    tokens: AttemptTokensPort, key: FireKey, n: int
) -> None:
    assert tokens.verify(_mint(tokens, key, n)) == AttemptClaims(
        key=key, n=n, issued_us=NOW_US, expires_us=EXPIRES_US
    )


def test_mint_never_expires_before_the_attempt_ends(tokens: AttemptTokensPort) -> None:
    token = tokens.mint(
        KEY, 1, audience="https://hook.example", now_us=NOW_US + 999_999, expires_us=EXPIRES_US + 1
    )
    claims = tokens.verify(token)
    assert claims is not None
    assert claims.issued_us <= NOW_US + 999_999
    assert EXPIRES_US + 1 <= claims.expires_us <= EXPIRES_US + 1_000_000


def test_mint_gives_a_header_word_of_less_than_a_kilobyte(tokens: AttemptTokensPort) -> None:
    token = _mint(tokens)
    assert token.isascii()
    assert len(token) < 1_000
    assert set(' ,;"\\\r\n').isdisjoint(token)


def test_mint_names_the_audience_and_one_trigger(tokens: AttemptTokensPort) -> None:
    claims = jwt.decode(_mint(tokens, n=3), options={"verify_signature": False})
    assert claims == {
        "iss": "punctual",
        "aud": "https://hook.example",
        "sub": f"acme/{KEY.trigger_id}",
        "jti": f"{KEY}#3",
        "iat": NOW_US // 1_000_000,
        "exp": EXPIRES_US // 1_000_000,
    }


def test_mint_by_racing_processes_uses_one_key(open_tokens: Opener) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        minted = list(pool.map(mint_first, repeat(open_tokens, 4), repeat(KEY)))
    tokens = open_tokens()
    claims = [tokens.verify(token) for token in minted]
    assert [each and each.key for each in claims] == [KEY] * 4
