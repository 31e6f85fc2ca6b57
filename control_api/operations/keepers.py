"""Who may hold a token: whoever made it, and whoever could act as its maker at that time."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from ports.principals import TokenRecord
from scheduling.instants import SECOND_US

_STILL_TAKEN_US: Final = 60 * SECOND_US  # an ended token, by other processes and clocks, at most


def keepers_of(token: TokenRecord, tokens: Iterable[TokenRecord]) -> set[str]:
    """The principals that may have kept it; `tokens` are all there are, those that ended too.

    A principal's token can be used by whoever made that one. So a token that was made with it may
    be in the hands of both, and so on back to those who made their tokens themselves.
    """
    by_holder: defaultdict[str, list[TokenRecord]] = defaultdict(list)
    for each in tokens:
        by_holder[each.principal_id].append(each)
    found: dict[str, int] = {}
    waiting = [(token.created_by, token.created_us)]
    while waiting:
        name, at_us = waiting.pop()
        if found.get(name, -1) >= at_us:
            continue
        found[name] = at_us
        waiting += (
            (each.created_by, each.created_us)
            for each in by_holder[name]
            if each.created_us <= at_us and not _had_ended(each, at_us)
        )
    return set(found)


def _had_ended(token: TokenRecord, at_us: int) -> bool:
    ends = [each for each in (token.revoked_us, token.expires_us) if each is not None]
    return bool(ends) and min(ends) + _STILL_TAKEN_US < at_us
