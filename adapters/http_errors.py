"""A failed request in one sentence: what happened, at which host, and the remedy.

Texts are built from the kind of the error and from words of the operating system or of OpenSSL,
never from `str(error)`: aiohttp's messages repeat whole URLs.
"""

import os
import socket
import ssl
from typing import Final

import aiohttp

from adapters.guarded_resolver import GuardedAddress
from adapters.local_lacks import NOBODYS, LocalLack, lack_of

_DETAIL_CHARS_MAX: Final = 120
_FOR_NOW: Final = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})


def not_connected(error: Exception, place: str) -> str:
    """The sentence for an error of aiohttp before the request began; `place` is host:port."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        if isinstance(error.os_error, LocalLack):
            return f"nothing was sent to {place}, because {error.os_error}"
        if isinstance(error.os_error, GuardedAddress):
            return f"{place} is refused, {error.os_error}: point its name at public addresses only"
        if getattr(error.os_error, "errno", None) in _FOR_NOW:
            return f"{place} does not resolve now{_detail(error)}: see its domain's name servers"
        return f"{place} does not resolve{_detail(error)}: correct the endpoint or its DNS record"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or "wrong host"
        return f"{place} has no valid TLS certificate ({_short(reason)}): install one"
    if isinstance(error, ssl.SSLError):
        return f"no TLS with {place}{_detail(error)}: check that the port speaks https"
    lack = lack_of(error, place.rpartition(":")[0])
    if lack is not None:
        return f"nothing was sent to {place}, because {lack.text}"
    if isinstance(error, OSError) and error.errno in NOBODYS:
        return (
            f"no way from here to {place}{_detail(error)}: see this machine's routes and firewall,"
            " and whether the endpoint's address is right"
        )
    return f"no connection to {place}{_detail(error)}: start the target or correct the endpoint"


def broke_off(error: Exception, place: str) -> str:
    """The sentence for an error of aiohttp once the request had begun; `place` is host:port."""
    if isinstance(error, aiohttp.ClientResponseError):
        return f"{place} answered with something that is not HTTP: check what listens there"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return f"{place} closed the connection without an answer: see the target's own log"
    detail = _detail(error)
    return f"the connection to {place} broke before an answer{detail}: see the target's log"


def _detail(error: Exception) -> str:
    return f" ({_short(_words_of(error))})"


def _words_of(error: Exception) -> str:
    if not isinstance(error, OSError) or error.errno is None:
        return type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorDNSError | ssl.SSLError):
        return error.strerror or type(error).__name__  # their numbers are not the system's
    return os.strerror(error.errno)  # asyncio's own text repeats the address instead


def _short(text: str) -> str:
    return text if len(text) <= _DETAIL_CHARS_MAX else text[: _DETAIL_CHARS_MAX - 3] + "..."
