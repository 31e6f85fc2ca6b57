"""A failed attempt in one sentence: what happened, at which host, and the remedy.

What went wrong before a connection stands in adapters/connect_errors.
"""

import aiohttp
from yarl import URL

from adapters.connect_errors import detail_of, not_connected


def describe(error: Exception, *, url: URL, has_begun: bool, timeout_s: float) -> str:
    """The sentence for an error of `HttpDelivery`; names host and port only."""
    place = f"{url.host_subcomponent}:{url.port}"
    if isinstance(error, TimeoutError):
        return _timed_out(place, has_begun=has_begun, timeout_s=timeout_s)
    if has_begun:
        return _broke_off(error, place)
    return not_connected(error, place)


def _timed_out(place: str, *, has_begun: bool, timeout_s: float) -> str:
    if has_begun:
        return (
            f"no answer from {place} within {timeout_s:g} s: answer first and work afterwards,"
            " or raise the target's timeout"
        )
    return (
        f"no connection to {place} within {timeout_s:g} s: check its DNS, its firewall and"
        " whether it accepts as many connections as are in flight"
    )


def _broke_off(error: Exception, place: str) -> str:
    if isinstance(error, aiohttp.ClientResponseError):
        return f"{place} answered with something that is not HTTP: check what listens there"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return f"{place} closed the connection without an answer: see the target's own log"
    return (
        f"the connection to {place} broke before an answer{detail_of(error)}: see the target's log"
    )
