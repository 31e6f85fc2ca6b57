"""The attempt token port with a key of the installation's own: JWTs signed with Ed25519 (EdDSA).

PyJWT signs and verifies, because receivers have it or its like. The key is one file, made by
whichever process comes first; without it, and under another one, older tokens prove nothing.
"""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import OKPAlgorithm
from jwt.types import Options

from adapters.key_files import create_key_file, make_key_folder, translated
from ports.attempt_tokens import AttemptClaims, AttemptTokensPort
from ports.errors import StoreCorrupt
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from scheduling.limits import ATTEMPT_BUDGET_MAX, ATTEMPT_TOKEN_CHARS_MAX

ISSUER: Final = "punctual"
_ALGORITHM: Final = "EdDSA"  # the only one, told to PyJWT: a token's own `alg` decides nothing
_FILE: Final = "attempt-tokens.pem"
_WHAT: Final = "attempt tokens"
# No reader may see two texts as one token, and the decoder skips odd characters.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{85}[AQgw]")
_ATTEMPT: Final = re.compile(r"(?P<key>.+)#(?P<n>[1-9][0-9]?)")
_OPTIONS: Final[Options] = {
    "require": ["iss", "aud", "sub", "jti", "iat", "exp"],
    "verify_exp": False,  # outcomes come after the attempt
    "verify_iat": False,  # another process's clock may be ahead
    "verify_aud": False,  # the audience is whoever shows it
}


class _Key(NamedTuple):
    private: Ed25519PrivateKey
    public: Ed25519PublicKey
    public_jwk: dict[str, str]

    @property
    def key_id(self) -> str:
        return self.public_jwk["kid"]


class LocalAttemptTokens(AttemptTokensPort):
    """StoreRefused, StoreUnavailable or StoreCorrupt when the key cannot be had.

    Thread-safe; nothing is read after the start, so `mint` and `verify` never wait.
    """

    def __init__(self, folder: Path) -> None:
        with translated(folder, what=_WHAT):
            make_key_folder(folder)
            path = folder / _FILE
            if not path.exists():
                create_key_file(path, _new_pem())
            self._key = _read(path)

    def mint(self, key: FireKey, n: int, *, audience: str, now_us: int, expires_us: int) -> str:
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": f"{key.tenant_id}/{key.trigger_id}",
            "jti": f"{key}#{n}",
            "iat": now_us // SECOND_US,
            "exp": -(-expires_us // SECOND_US),  # a full second: never before the attempt's end
        }
        headers = {"kid": self._key.key_id}
        return jwt.encode(claims, self._key.private, algorithm=_ALGORITHM, headers=headers)

    def verify(self, token: str) -> AttemptClaims | None:
        if len(token) > ATTEMPT_TOKEN_CHARS_MAX or not _TOKEN.fullmatch(token):
            return None
        try:
            decoded = jwt.decode_complete(
                token,
                self._key.public,
                algorithms=[_ALGORITHM],
                issuer=ISSUER,
                options=_OPTIONS,
            )
            if decoded["header"].get("kid") != self._key.key_id:
                return None
            return _claims_of(decoded["payload"])
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None

    def public_keys(self) -> dict[str, Any]:
        return {"keys": [dict(self._key.public_jwk)]}


def _claims_of(payload: dict[str, Any]) -> AttemptClaims | None:
    """What was signed is what `mint` wrote; another writer of this key is not known."""
    match = _ATTEMPT.fullmatch(payload["jti"])
    if match is None or int(match["n"]) > ATTEMPT_BUDGET_MAX:
        return None
    return AttemptClaims(
        key=FireKey.parse(match["key"]),
        n=int(match["n"]),
        issued_us=int(payload["iat"]) * SECOND_US,
        expires_us=int(payload["exp"]) * SECOND_US,
    )


def _new_pem() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _read(path: Path) -> _Key:
    content = path.read_bytes()
    try:
        private = load_pem_private_key(content, password=None)
    except (TypeError, ValueError):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise StoreCorrupt(f"{_WHAT}: {path} is damaged; restore it from a backup")
    public = private.public_key()
    jwk = OKPAlgorithm.to_jwk(public, as_dict=True)
    return _Key(private, public, {**jwk, "use": "sig", "alg": _ALGORITHM, "kid": _thumbprint(jwk)})


def _thumbprint(jwk: dict[str, str]) -> str:
    """The key's id: RFC 7638, its required members in order, hashed."""
    members = json.dumps({name: jwk[name] for name in ("crv", "kty", "x")}, separators=(",", ":"))
    digest = hashlib.sha256(members.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
