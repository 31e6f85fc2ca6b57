"""Whoever reaches a server on loopback that has no authenticator, and who is kept out of it."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from control_api.problems import ApiProblem
from control_api.services import LOOPBACK_HOSTS
from ports.authenticator import Principal
from ports.principals import GrantKind

_OTHER_SITES: Final = frozenset({"cross-site", "same-site"})


def anybody(headers: Mapping[bytes, bytes]) -> Principal:
    """The principal that may do everything; ApiProblem for what a page in a browser sends.

    Such a page reaches loopback too. Under a name of its own that resolves there the Host header
    tells; across origins, where it gets no answer to read and yet could act, its browser does.
    """
    host = headers.get(b"host", b"").decode("latin-1")
    if host.rpartition(":")[0].strip("[]") not in LOOPBACK_HOSTS and host not in LOOPBACK_HOSTS:
        raise ApiProblem(403, "wrong_host", "Host: this server takes calls for loopback alone")
    origin = headers.get(b"origin")
    site = headers.get(b"sec-fetch-site", b"").decode("latin-1").lower()
    if site in _OTHER_SITES or (origin is not None and not _is_loopback(origin.decode("latin-1"))):
        detail = "Origin: without tokens this server takes no calls from pages of other sites"
        raise ApiProblem(403, "wrong_origin", detail)
    return Principal(principal_id="anonymous", grants=frozenset((kind, None) for kind in GrantKind))


def _is_loopback(origin: str) -> bool:
    try:
        return urlsplit(origin).hostname in LOOPBACK_HOSTS
    except ValueError:
        return False
