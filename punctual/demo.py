"""The demo of `punctual up --demo`: a tenant with a few triggers and a receiver to watch."""

from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from typing import Final

from control_api.manifests.applying import changes_in
from ports.changes import Change, PutTarget
from ports.registry import RegistryPort
from punctual.receiver import DemoReceiver, ReceivedFire
from schemas.signing_secrets import new_secret

DEMO_PORT: Final = 8401
DEMO_FILE: Final = "demo.yaml"
_TENANT: Final = "demo"
_TARGET: Final = "receiver"


def demo_receiver(
    registry: RegistryPort, on_fire: Callable[[ReceivedFire], None], *, port: int
) -> tuple[DemoReceiver, str]:
    """The receiver, not yet listening, and the secret that it shares with its target."""
    secret = registry.target_secret(_TENANT, _TARGET) or new_secret()
    return DemoReceiver([secret], on_fire, tenants=[_TENANT], port=port), secret


def demo_changes(
    registry: RegistryPort, *, endpoint: str, secret: str, now_us: int
) -> list[Change]:
    """The demo's manifest, pointed at the receiver."""
    text = resources.files("punctual").joinpath(DEMO_FILE).read_bytes()
    changes = changes_in(
        registry, text, name=DEMO_FILE, folder=None, now_us=now_us, allow_loopback=True
    )
    return [
        replace(change, target=replace(change.target, endpoint=endpoint, secret=secret))
        if isinstance(change, PutTarget)
        else change
        for change in changes
    ]
