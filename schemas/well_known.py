"""Where a host tells who may send fires to it (RFC 8615)."""

from typing import Final

from schemas.origins import origin_of

OWNERSHIP_PATH: Final = "/.well-known/punctual-ownership"
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


def ownership_url(endpoint: str) -> str:
    """The address of the ownership document of an endpoint's host; ValueError for no URL."""
    return web_origin(endpoint) + OWNERSHIP_PATH


def web_origin(endpoint: str) -> str:
    """The origin as it is written for people and in tokens: without a default port (RFC 6454)."""
    origin = origin_of(endpoint)
    return origin.removesuffix(_DEFAULT_PORTS.get(origin.partition(":")[0], ""))
