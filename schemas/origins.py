"""Whose an endpoint is: its origin, which is what ownership is proven of, and its host."""

import re
from typing import Final
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}")
_PORTS: Final = {"http": 80, "https": 443}


def origin_of(endpoint: str) -> str:
    """`scheme://host:port` in lower case, the port always written; ValueError for no URL."""
    parts = urlsplit(endpoint)
    scheme = parts.scheme.lower()
    port = parts.port or _PORTS.get(scheme, 0)
    host = host_of(endpoint)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def host_of(endpoint: str) -> str:
    """The host alone, as `normal_host` writes it; ValueError for no URL."""
    host = urlsplit(endpoint).hostname
    if not host:
        raise ValueError(f"endpoint: {endpoint[:40]!r} names no host: write https://host/path")
    return normal_host(host)


def normal_host(text: str) -> str:
    """A host as it is compared: lower case, no final dot, an IPv6 address without brackets.

    ValueError for what is no host; a port, a scheme or a path is none.
    """
    host = text.lower().removeprefix("[").removesuffix("]").removesuffix(".")
    if not _HOST.fullmatch(host):
        raise ValueError(f"host: {text[:40]!r} is no host: write the name alone, as example.com")
    return host
