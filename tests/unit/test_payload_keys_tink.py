"""Payload keys on files: names, modes, damage and what a crash leaves behind."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.payload_keys_tink import TinkPayloadKeys
from ports.errors import PayloadUnreadable, StoreCorrupt, StoreRefused


@pytest.fixture(autouse=True)
def permissive_umask() -> Iterator[None]:
    previous = os.umask(0)
    yield
    os.umask(previous)


def test_key_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "keys"
    TinkPayloadKeys(folder).seal("acme", b"x", context="c")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.stat().st_mode & 0o777 for file in folder.iterdir()] == [0o600]


def test_key_folder_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o777)
    TinkPayloadKeys(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_each_tenant_has_one_file_inside_the_folder(tmp_path: Path) -> None:
    keys = TinkPayloadKeys(tmp_path / "keys")
    for tenant_id in ("acme", "Acme", "../acme", "a" * 128, "ü"):
        keys.seal(tenant_id, b"x", context="c")
        keys.seal(tenant_id, b"y", context="c")
    assert len(list((tmp_path / "keys").iterdir())) == 5
    assert list(tmp_path.iterdir()) == [tmp_path / "keys"]


def test_key_file_is_an_aes_gcm_keyset(tmp_path: Path) -> None:
    TinkPayloadKeys(tmp_path).seal("acme", b"x", context="c")
    (file,) = tmp_path.iterdir()
    (key,) = json.loads(file.read_text())["key"]
    assert key["keyData"]["typeUrl"] == "type.googleapis.com/google.crypto.tink.AesGcmKey"


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b"\xff\xfe"])
def test_damaged_key_file_is_reported_and_never_replaced(tmp_path: Path, content: bytes) -> None:
    sealed = TinkPayloadKeys(tmp_path).seal("acme", b"x", context="c")
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"is damaged; restore it from a backup"):
        TinkPayloadKeys(tmp_path).open("acme", sealed, context="c")
    with pytest.raises(StoreCorrupt):
        TinkPayloadKeys(tmp_path).seal("acme", b"x", context="c")
    assert file.read_bytes() == content


def test_key_file_copied_to_another_tenant_opens_nothing_there(tmp_path: Path) -> None:
    keys = TinkPayloadKeys(tmp_path)
    sealed = keys.seal("acme", b"x", context="c")
    (acme,) = tmp_path.iterdir()
    keys.seal("other", b"x", context="c")
    (other,) = set(tmp_path.iterdir()) - {acme}
    other.write_bytes(acme.read_bytes())
    with pytest.raises(PayloadUnreadable):
        keys.open("other", sealed, context="c")


def test_delete_removes_what_a_crash_left_beside_the_key(tmp_path: Path) -> None:
    keys = TinkPayloadKeys(tmp_path)
    keys.seal("acme", b"x", context="c")
    (file,) = tmp_path.iterdir()
    (tmp_path / f"{file.stem}.half").hardlink_to(file)
    keys.delete("acme")
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    with pytest.raises(StoreRefused, match="must be a folder that this user owns"):
        TinkPayloadKeys(tmp_path / "keys")
