"""The payload key port on files: one Tink keyset of AES-256-GCM a tenant, for its owner only.

Whoever copies the folder can read the payloads; without it nobody can.
"""

from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import tink
from tink import aead, secret_key_access

from adapters.file_sync import sync_folder
from adapters.key_files import create_key_file, make_key_folder, translated
from ports.errors import PayloadUnreadable, StoreCorrupt, StoreUnavailable
from ports.payload_keys import PayloadKeysPort

_WHAT = "payload keys"
_CREATE_TRIES = 8
_PREFIX_BYTES = 5


class _Loaded(NamedTuple):
    """A tenant's key in memory and the state of its file that it was read from."""

    seen: tuple[int, int, int]
    key_ids: frozenset[int]
    cipher: Any


class TinkPayloadKeys(PayloadKeysPort):
    """StoreRefused or StoreUnavailable when the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, _Loaded] = {}
        aead.register()
        with translated(folder, what=_WHAT):
            make_key_folder(folder)

    def seal(self, tenant_id: str, plain: bytes, *, context: str) -> bytes:
        with translated(self._folder, what=_WHAT):
            for _ in range(_CREATE_TRIES):
                key = self._key(tenant_id)
                if key is not None:
                    return bytes(key.cipher.encrypt(plain, _bound_to(tenant_id, context)))
                self._create(tenant_id)
        raise StoreUnavailable(f"payload keys: the key of {tenant_id} is being deleted; try again")

    def open(self, tenant_id: str, sealed: bytes, *, context: str) -> bytes:
        with translated(self._folder, what=_WHAT):
            key = self._key(tenant_id)
        if key is None:
            raise PayloadUnreadable(f"the payload key of {tenant_id} is gone")
        if _key_id_of(sealed) not in key.key_ids:
            text = f"the payload key of {tenant_id} is gone, and it has another one now"
            raise PayloadUnreadable(text)
        try:
            return bytes(key.cipher.decrypt(sealed, _bound_to(tenant_id, context)))
        except tink.TinkError as error:
            raise PayloadUnreadable(
                f"the payload is damaged, or not one of {tenant_id} for this use"
            ) from error

    def delete(self, tenant_id: str) -> bool:
        """What a process left behind that died while it made the key is removed as well."""
        path = self._path(tenant_id)
        self._loaded.pop(tenant_id, None)
        with translated(self._folder, what=_WHAT):
            existed = path.exists()
            for file in list(self._folder.glob(f"{path.stem}.*")):
                file.unlink(missing_ok=True)
            sync_folder(self._folder)
        return existed

    def _path(self, tenant_id: str) -> Path:
        """A digest as the name, because a tenant's id may differ from another's by case only."""
        return self._folder / f"{blake2b(tenant_id.encode(), digest_size=16).hexdigest()}.json"

    def _key(self, tenant_id: str) -> _Loaded | None:
        """The tenant's key, if there is one.

        The file is looked at on every call: another process may have deleted the key.
        """
        path = self._path(tenant_id)
        try:
            status = path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            loaded = self._loaded.get(tenant_id)
            if loaded is None or loaded.seen != seen:
                loaded = _Loaded(seen, *_parse(path))
                self._loaded[tenant_id] = loaded
        except FileNotFoundError:
            self._loaded.pop(tenant_id, None)
            return None
        return loaded

    def _create(self, tenant_id: str) -> None:
        handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM)
        text = tink.json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
        create_key_file(self._path(tenant_id), text)


def _parse(path: Path) -> tuple[frozenset[int], Any]:
    try:
        handle = tink.json_proto_keyset_format.parse(path.read_text(), secret_key_access.TOKEN)
        key_ids = frozenset(key.key_id for key in handle.keyset_info().key_info)
        return key_ids, handle.primitive(aead.Aead)
    except (tink.TinkError, UnicodeDecodeError) as error:
        raise StoreCorrupt(f"payload keys: {path} is damaged; restore it from a backup") from error


def _key_id_of(sealed: bytes) -> int:
    """Which key it was sealed with: Tink writes its id behind the first byte."""
    return int.from_bytes(sealed[1:_PREFIX_BYTES])


def _bound_to(tenant_id: str, context: str) -> bytes:
    """The associated data: a key file that is copied to another tenant opens nothing there."""
    return f"{tenant_id}\0{context}".encode()
