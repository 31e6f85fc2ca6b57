"""The demo of `punctual up --demo`: a tenant with a few triggers and a receiver to watch."""

from collections.abc import Callable
from importlib import resources
from socket import socket
from typing import Final

from control_api.manifests.yaml_tree import Node
from ports.registry import RegistryPort
from punctual.manifest_files import ManifestFile, read_manifest_file
from punctual.receiver import DemoReceiver, ReceivedFire
from schemas.signing_secrets import new_secret

DEMO_FILE: Final = "demo.yaml"
_TENANT: Final = "demo"
_TARGET: Final = "receiver"


def demo_receiver(
    registry: RegistryPort, on_fire: Callable[[ReceivedFire], None], *, listener: socket
) -> tuple[DemoReceiver, str]:
    """The receiver that will serve on a socket, and the secret that it shares with its target."""
    secret = registry.target_secret(_TENANT, _TARGET) or new_secret()
    return DemoReceiver([secret], on_fire, tenants=[_TENANT], listener=listener), secret


def demo_file(*, endpoint: str, secret: str) -> ManifestFile:
    """The demo's manifest, pointed at the receiver."""
    text = resources.files("punctual").joinpath(DEMO_FILE).read_bytes()
    file = read_manifest_file(text, name=DEMO_FILE, folder=None, environment={})
    section = file.root
    for key in ("tenants", _TENANT, "targets", _TARGET):
        child = section.child(key)
        if child is None:
            raise LookupError(f"{DEMO_FILE} has no {key}")
        section = child
    node = section.node
    assert isinstance(node.value, dict)  # noqa: S101 - of our own file
    for key, value in (("url", endpoint), ("secret", secret)):
        node.value[key] = Node(node.mark, value)
        node.keys[key] = section.mark
    return file
