"""A manifest's text, read as the product does it in two places: its YAML, then its content."""

from control_api.manifests.manifest import read_manifest
from control_api.manifests.yaml_tree import read_tree
from schemas.manifest import Manifest


def load_manifest(text: str | bytes, *, name: str, now_us: int, allow_loopback: bool) -> Manifest:
    """ManifestErrors with all problems of both."""
    root, problems = read_tree(text, name=name)
    return read_manifest(root, problems, name=name, now_us=now_us, allow_loopback=allow_loopback)
