"""A failed attempt in one sentence: what happened, at which host, and the remedy.

What is no matter of the timeout is told by adapters/http_errors.
"""

from yarl import URL

from adapters.http_errors import broke_off, not_connected


def describe(error: Exception, *, url: URL, has_begun: bool, timeout_s: float) -> str:
    """The sentence for an error of `HttpDelivery`; names host and port only."""
    place = f"{url.host_subcomponent}:{url.port}"
    if isinstance(error, TimeoutError):
        return _timed_out(place, has_begun=has_begun, timeout_s=timeout_s)
    if has_begun:
        return broke_off(error, place)
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
