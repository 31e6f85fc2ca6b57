"""Smear: a stable, forward-only spread of fires that share a second."""

from hashlib import blake2b


def smear_window_us(smear_us: int, instant_us: int, *, next_us: int | None) -> int:
    """How far an instant may be moved: never beyond the next one."""
    return smear_us if next_us is None else min(smear_us, next_us - instant_us)


def smear_us(tenant_id: str, trigger_id: str, *, instant_us: int, window_us: int) -> int:
    """A hash of (tenant, trigger, instant) within [0, window_us), in microseconds."""
    if window_us <= 0:
        return 0
    return smear_hash(tenant_id, trigger_id, instant_us) % window_us


def smear_hash(tenant_id: str, trigger_id: str, instant_us: int) -> int:
    """64 bits that stay the same for an instant, whatever its smear."""
    text = f"{tenant_id}\0{trigger_id}\0{instant_us}".encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
