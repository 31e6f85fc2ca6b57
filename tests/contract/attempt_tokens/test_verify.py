"""Attempt tokens: only what this installation minted is genuine."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ports.attempt_tokens import AttemptTokensPort
from scheduling.instants import from_text
from scheduling.keys import FireKey
from scheduling.limits import ATTEMPT_TOKEN_CHARS_MAX
from tests.contract.factories import ATTEMPT_TOKENS

Opener = Callable[[], AttemptTokensPort]
NOW_US = from_text("2026-03-02T09:00:00Z")
KEY = FireKey("acme", "t00112233445566778899", NOW_US)


@pytest.fixture
def token(tokens: AttemptTokensPort) -> str:
    return tokens.mint(
        KEY, 1, audience="https://hook.example", now_us=NOW_US, expires_us=NOW_US + 15_000_000
    )


@pytest.fixture
def claims(token: str) -> dict[str, Any]:
    found: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return found


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _public_bytes(tokens: AttemptTokensPort) -> dict[str, bytes]:
    """The published key in every form that a careless verifier might take for a shared secret."""
    key = jwt.PyJWK(tokens.public_keys()["keys"][0]).key
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return {
        "raw": raw,
        "base64": base64.urlsafe_b64encode(raw).rstrip(b"="),
        "der": key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
    }


def test_verify_through_another_handle_is_genuine(open_tokens: Opener, token: str) -> None:
    claims = open_tokens().verify(token)
    assert claims is not None
    assert (claims.key, claims.n) == (KEY, 1)


def test_verify_of_a_token_that_expired_long_ago_still_tells_its_attempt(
    tokens: AttemptTokensPort,
) -> None:
    token = tokens.mint(KEY, 2, audience="https://a.example", now_us=0, expires_us=1_000_000)
    claims = tokens.verify(token)
    assert claims is not None
    assert (claims.key, claims.n, claims.expires_us) == (KEY, 2, 1_000_000)


def test_verify_of_a_token_from_a_clock_ahead_is_genuine(tokens: AttemptTokensPort) -> None:
    far_us = from_text("2400-01-01T00:00:00Z")
    token = tokens.mint(KEY, 1, audience="https://a.example", now_us=far_us, expires_us=far_us)
    assert tokens.verify(token) is not None


def test_verify_without_a_signature_is_refused(
    tokens: AttemptTokensPort, token: str, claims: dict[str, Any]
) -> None:
    kid = jwt.get_unverified_header(token)["kid"]
    for word in ("none", "None", "NONE", ""):
        head = _part({"alg": word, "kid": kid, "typ": "JWT"})
        for signature in ("", token.split(".")[2]):
            assert tokens.verify(f"{head}.{_part(claims)}.{signature}") is None


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("form", ["raw", "base64", "der"])
def test_verify_of_a_mac_under_the_public_key_is_refused(
    tokens: AttemptTokensPort, token: str, claims: dict[str, Any], algorithm: str, form: str
) -> None:
    kid = jwt.get_unverified_header(token)["kid"]
    secret = _public_bytes(tokens)[form].ljust(64, b"\0")
    forged = jwt.encode(claims, secret, algorithm=algorithm, headers={"kid": kid})
    assert tokens.verify(forged) is None


def test_verify_of_another_installations_token_is_refused(
    tokens: AttemptTokensPort, tmp_path: Path
) -> None:
    for name, open_in in ATTEMPT_TOKENS.items():
        other = open_in(tmp_path / name)()
        foreign = other.mint(KEY, 1, audience="https://a.example", now_us=0, expires_us=1)
        assert other.verify(foreign) is not None
        assert tokens.verify(foreign) is None


def test_verify_of_a_foreign_signature_under_our_key_id_is_refused(
    tokens: AttemptTokensPort, token: str, claims: dict[str, Any]
) -> None:
    kid = jwt.get_unverified_header(token)["kid"]
    own = Ed25519PrivateKey.generate()
    for headers in ({"kid": kid}, {"kid": kid, "jwk": {"kty": "OKP"}}, {}):
        forged = jwt.encode(claims, own, algorithm="EdDSA", headers=headers)
        assert tokens.verify(forged) is None


@pytest.mark.parametrize("position", range(0, 420, 7))
def test_verify_of_a_changed_character_is_refused(
    tokens: AttemptTokensPort, token: str, position: int
) -> None:
    other = "A" if token[position] != "A" else "B"
    assert tokens.verify(token[:position] + other + token[position + 1 :]) is None


def test_verify_of_the_same_token_in_other_letters_is_refused(
    tokens: AttemptTokensPort, token: str
) -> None:
    """A base64 decoder skips odd characters and the last bits: one token has one text."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = [token[:-1] + letter for letter in letters if letter != token[-1]]
    for text in (*last, token + "=", token + "\n", " " + token, token[:-3] + "!" + token[-3:]):
        assert tokens.verify(text) is None


def test_verify_of_other_claims_under_the_signature_is_refused(
    tokens: AttemptTokensPort, token: str, claims: dict[str, Any]
) -> None:
    head, _, signature = token.split(".")
    for change in ({"jti": f"{KEY}#2"}, {"sub": "acme/other"}, {"exp": 4_000_000_000}):
        assert tokens.verify(f"{head}.{_part({**claims, **change})}.{signature}") is None


OTHER_TEXTS = {
    "empty": "",
    "dot": ".",
    "dots": "..",
    "letters": "a.b.c",
    "token_of_a_principal": "pun_secret",
    "surrogate": "\ud800",
    "not_ascii": "é" * 40,
    "braces": "{}.{}.{}",
    "no_object": _part({"alg": "EdDSA"}) + "." + _part([]) + "." + "A" * 86,
    "too_long": "A" * ATTEMPT_TOKEN_CHARS_MAX + ".A." + "A" * 86,
    "far_too_long": "A" * 2_000_000,
}


@pytest.mark.parametrize("text", OTHER_TEXTS.values(), ids=OTHER_TEXTS)
def test_verify_of_any_other_text_is_none(tokens: AttemptTokensPort, text: str) -> None:
    assert tokens.verify(text) is None
