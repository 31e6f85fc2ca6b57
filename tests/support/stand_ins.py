"""One rule for what differs from run to run: a page shows a stand-in.

Each new token, secret, signature or token's id of a run takes the next stand-in of its kind, in
the order in which they come; the versions are always the same. Commands of a page may use the
stand-ins: they are exchanged back before the command runs. The stage's user is always `you`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from punctual.version import __version__
from scheduling.zones import tzdata_version

TZDATA: Final = "2026a"
_DRAWN: Final = (
    (re.compile(r"pun_[A-Za-z0-9_-]{43}"), "pun_example-token-{}"),
    (re.compile(r"whsec_[A-Za-z0-9+/]{32,}=*"), "whsec_example-secret-{}"),
    (re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+"), "eyJ.example-attempt-{}"),
    (re.compile(r"v1,[A-Za-z0-9+/]{43}="), "v1,example-signature-{}"),
    (re.compile(r"\bk[0-9a-f]{12}\b"), "k00000000000{}"),
)
_FIXED: Final = (
    (re.compile(rf"\b(punctual[ /]){re.escape(__version__)}\b"), r"\g<1>0.1.0"),
    (re.compile(rf"\b(tzdata(?:_version)?\W+){tzdata_version()}\b"), rf"\g<1>{TZDATA}"),
)


@dataclass(slots=True)
class StandIns:
    """`shown` maps what came to what stands for it, on one page."""

    shown: dict[str, str] = field(default_factory=dict)

    def hide(self, text: str) -> str:
        """What the page shows of what came."""
        for pattern, template in _DRAWN:
            for actual in pattern.findall(text):
                if actual not in self.shown:
                    number = sum(pattern.fullmatch(each) is not None for each in self.shown)
                    self.shown[actual] = template.format("abcdef"[number])
        for actual, stand_in in self.shown.items():
            text = text.replace(actual, stand_in)
        for pattern, stand_in in _FIXED:
            text = pattern.sub(stand_in, text)
        return text

    def reveal(self, text: str) -> str:
        """What is meant by what the page shows."""
        for actual, stand_in in self.shown.items():
            text = text.replace(stand_in, actual)
        return text
