"""The Retry-After header: seconds, or an HTTP date (RFC 9110, section 10.2.3)."""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

from scheduling.limits import RETRY_AFTER_S_MAX

_SECONDS = re.compile(r"[0-9]{1,40}")
_DATE_CHARS_MAX = 40


def parse_retry_after(text: str | None, now_s: float) -> float | None:
    """The wait in seconds from `now_s` (Unix time), from 0 to one day; None if unreadable."""
    if text is None:
        return None
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return float(min(int(text), RETRY_AFTER_S_MAX))
    if len(text) > _DATE_CHARS_MAX:
        return None
    try:
        moment = parsedate_to_datetime(text)
        # A date without a zone is GMT: HTTP knows no other.
        wait_s = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now_s
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(wait_s, 0.0), float(RETRY_AFTER_S_MAX))
