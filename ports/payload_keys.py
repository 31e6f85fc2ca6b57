"""The payload key port: payloads are sealed per tenant; deleting the key deletes them."""

from abc import ABC, abstractmethod


class PayloadKeysPort(ABC):
    """Authenticated encryption with one key set a tenant."""

    @abstractmethod
    def seal(self, tenant_id: str, plain: bytes, *, context: str) -> bytes:
        """Encrypt; makes the tenant's key on first use. `context` must match when opened."""

    @abstractmethod
    def open(self, tenant_id: str, sealed: bytes, *, context: str) -> bytes:
        """Decrypt. PayloadUnreadable when the key is gone or the bytes are not its own."""

    @abstractmethod
    def delete(self, tenant_id: str) -> bool:
        """Destroy the tenant's key; True if there was one."""
