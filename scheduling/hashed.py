"""`H`: a value derived from (tenant, trigger name, field), written out as plain cron text.

It is stable for as long as the names are, spread evenly over the field, and known before the
trigger exists. Days of the month are drawn from 1 to 28, so that every month has the day.
"""

import re
from hashlib import blake2b
from typing import Final

from scheduling.errors import InvalidRecurrence
from scheduling.fields import FIELD_OF
from scheduling.limits import NUMBER_DIGITS_MAX

_HASHED = re.compile(r"[Hh](?:\(([0-9]+)-([0-9]+)\))?(?:/([0-9]+))?")
_DAY_MAX: Final = 28


def resolve_hashed(name: str, text: str, identity: tuple[str, str] | None) -> str:
    """The field's text with each `H` item replaced by its values; other items are untouched."""
    items = text.split(",")
    for at, item in enumerate(items):
        if item[:1] in ("H", "h"):
            items[at] = _resolve(name, item, identity)
    return ",".join(items)


def _resolve(name: str, item: str, identity: tuple[str, str] | None) -> str:
    match = _HASHED.fullmatch(item)
    if match is None:
        raise InvalidRecurrence(name, item, "use H, H/15, H(0-29) or H(0-29)/10")
    if any(len(number or "") > NUMBER_DIGITS_MAX for number in match.groups()):
        reason = f"has a number of more than {NUMBER_DIGITS_MAX} digits"
        raise InvalidRecurrence(name, item, reason)
    if identity is None:
        reason = "`H` is derived from the tenant and the trigger's name, and none was given"
        raise InvalidRecurrence(name, item, reason)
    field = FIELD_OF[name]
    low, high = field.low, _DAY_MAX if name == "day_of_month" else field.high
    if match[1] is not None:
        low, high = int(match[1]), int(match[2])
        if not field.low <= low <= high <= field.high:
            reason = f"the range must ascend inside {field.low} to {field.high}"
            raise InvalidRecurrence(name, item, reason)
    span, number = high - low + 1, _hash(identity, name)
    if match[3] is None:
        return str(low + number % span)
    step = int(match[3])
    if step == 0:
        raise InvalidRecurrence(name, item, "a step is at least 1")
    return f"{low + number % min(step, span)}-{high}/{step}"


def _hash(identity: tuple[str, str], name: str) -> int:
    content = "\0".join((*identity, name)).encode()
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big")
