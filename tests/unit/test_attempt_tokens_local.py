"""The key of attempt tokens on a file: its mode, its form, damage and what a crash leaves."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from adapters.attempt_tokens_local import LocalAttemptTokens
from ports.errors import StoreCorrupt, StoreRefused
from scheduling.keys import FireKey

FILE = "attempt-tokens.pem"


@pytest.fixture(autouse=True)
def permissive_umask() -> Iterator[None]:
    previous = os.umask(0)
    yield
    os.umask(previous)


def test_key_file_is_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "keys"
    LocalAttemptTokens(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()} == {FILE: 0o600}


def test_key_file_holds_an_ed25519_key_and_stays_as_it_is(tmp_path: Path) -> None:
    LocalAttemptTokens(tmp_path)
    content = (tmp_path / FILE).read_bytes()
    LocalAttemptTokens(tmp_path)
    assert (tmp_path / FILE).read_bytes() == content
    assert isinstance(load_pem_private_key(content, password=None), Ed25519PrivateKey)


def test_key_that_was_backed_up_verifies_after_a_restore(tmp_path: Path) -> None:
    tokens = LocalAttemptTokens(tmp_path / "old")
    token = tokens.mint(FireKey("acme", "t0", 1), 1, audience="x", now_us=0, expires_us=1)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / FILE).write_bytes((tmp_path / "old" / FILE).read_bytes())
    assert LocalAttemptTokens(tmp_path / "new").verify(token) is not None


def test_key_id_is_the_rfc_7638_thumbprint(tmp_path: Path) -> None:
    (key,) = LocalAttemptTokens(tmp_path).public_keys()["keys"]
    members = json.dumps(
        {"crv": "Ed25519", "kty": "OKP", "x": key["x"]}, separators=(",", ":")
    ).encode()
    expected = base64.urlsafe_b64encode(hashlib.sha256(members).digest()).decode().rstrip("=")
    assert key["kid"] == expected


def _another_kind() -> bytes:
    key = generate_private_key(SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    "content",
    [b"", b"not a key", b"\xff\xfe", _another_kind()],
    ids=["empty", "text", "binary", "another_kind"],
)
def test_damaged_key_file_is_reported_and_never_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StoreCorrupt, match="is damaged; restore it from a backup"):
        LocalAttemptTokens(tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    with pytest.raises(StoreRefused, match=r"attempt tokens: .* must be a folder that this user"):
        LocalAttemptTokens(tmp_path / "keys")
