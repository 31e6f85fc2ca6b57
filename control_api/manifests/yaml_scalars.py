"""Which value a plain YAML scalar means, where YAML 1.1, YAML 1.2 and JSON agree.

Where they disagree the text is refused instead of guessed: `no` is false to one reader and a word
to the other, `12:30` is 750 to one and a time of day to the other.
"""

import math
import re
from typing import Final

Scalar = str | int | float | bool | None

_WORDS: Final[dict[str, Scalar]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_OLD_BOOLEANS: Final = frozenset(
    word for base in ("yes", "no", "on", "off") for word in (base, base.capitalize(), base.upper())
)
_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
_UNCLEAR: Final = (
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "a number in base 60 or a time"),
    (re.compile(r"[-+]?0[0-9_]+"), "an octal or a decimal number"),
    (re.compile(r"[-+]?0[xob][0-9a-fA-F_]+"), "a number in another base or text"),
    (re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?"), "a number with separators or text"),
    (re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+"), "a number or text"),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), "a number that JSON cannot hold"),
)
_INTEGER_MAX: Final = 2**63 - 1


class UnclearScalar(ValueError):
    """A plain scalar that two readers of YAML understand differently; says what to write."""


def plain_scalar(text: str) -> Scalar:
    """The value of an unquoted scalar; UnclearScalar where the readers of YAML disagree.

    Dates stay text: JSON has none, and every field that wants one reads it from text.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        if text in _OLD_BOOLEANS:
            raise UnclearScalar("reads as a boolean or as text: write true or false, or quote it")
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _finite(text)
    for pattern, readings in _UNCLEAR:
        if pattern.fullmatch(text):
            raise UnclearScalar(
                f"reads as {readings}: quote it, or write the number in plain decimals"
            )
    return text


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _INTEGER_MAX:
        raise UnclearScalar("is an integer of more than 64 bits: quote it")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise UnclearScalar("is a number that JSON cannot hold: quote it")
    return value
