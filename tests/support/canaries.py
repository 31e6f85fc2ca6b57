"""Canaries: random texts that are seeded on every way in, and looked for in every place.

A place is a name and bytes, as in `log/stderr` or `file/punctual.db`. Each kind of canary has its
own places; anywhere else it has leaked, in whatever form it stands there.
"""

import base64
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, NamedTuple
from urllib.parse import quote

Kind = Literal[
    "payload",
    "secret",
    "token",
    "attempt_token",
    "refused_token",
    "key",
    "request",
    "note",
    "cause",
]

_STORE: Final = ("file/punctual.db*", "backup/punctual.db")
PLACES: Final[Mapping[Kind, tuple[str, ...]]] = {
    # Sealed wherever they are kept: nobody but the receiver sees them in clear.
    "payload": ("receiver/*",),
    "secret": ("shown/secret*",),
    "token": ("file/token", "backup/token", "shown/token*"),
    "attempt_token": ("receiver/*",),
    "refused_token": (),
    # An idempotency key is kept for a day, to know a repeat.
    "key": _STORE,
    # Of a refused request its own sender alone may be told.
    "request": ("answer/*",),
    # What people write to be read.
    "note": (*_STORE, "shown/*", "answer/note*"),
    # What a worker says of its failure, for whoever may read the tenant's fires.
    "cause": (*_STORE, "shown/fire", "shown/fires", "shown/why", "shown/cli-fires"),
}


@dataclass(frozen=True, slots=True)
class Canary:
    """`way` says how it came in."""

    kind: Kind
    way: str
    text: str

    def forms(self) -> Iterator[tuple[str, bytes]]:
        """Every form in which it would still be the same secret, by name."""
        plain = self.text.encode()
        yield "plain", plain
        yield "hex", plain.hex().encode()
        yield "HEX", plain.hex().upper().encode()
        yield "percent", "".join(f"%{byte:02x}" for byte in plain).encode()
        yield "PERCENT", "".join(f"%{byte:02X}" for byte in plain).encode()
        if quote(self.text, safe="") != self.text:
            yield "quoted", quote(self.text, safe="").encode()
        yield "utf-16", self.text.encode("utf-16-le")
        yield "escaped", "".join(f"\\u{byte:04x}" for byte in plain).encode()
        if self.kind == "secret":
            yield "key", base64.b64decode(self.text)
            yield "key in hex", base64.b64decode(self.text).hex().encode()
        for shift in range(3):
            yield f"base64 at {shift}", _inner_base64(plain, shift)


class Leak(NamedTuple):
    """A canary where it does not belong."""

    place: str
    kind: Kind
    way: str
    form: str


class Aviary:
    """Hands canaries out and remembers them."""

    def __init__(self) -> None:
        self.all: list[Canary] = []

    def seed(self, kind: Kind, way: str) -> str:
        """A new text of letters and digits, for one way in."""
        return self.keep(kind, way, "cnry" + secrets.token_hex(12))

    def seed_secret(self, way: str) -> str:
        """A new signing secret; what is looked for is the key in it."""
        body = base64.b64encode(secrets.token_bytes(24)).decode()
        self.keep("secret", way, body)
        return f"whsec_{body}"

    def keep(self, kind: Kind, way: str, text: str) -> str:
        """A text that was made elsewhere, such as a token."""
        self.all.append(Canary(kind, way, text))
        return text


def leaks(canaries: list[Canary], places: Mapping[str, bytes]) -> list[Leak]:
    """Every canary in every place that is none of its kind."""
    found: list[Leak] = []
    for canary in canaries:
        for form, needle in canary.forms():
            found += (
                Leak(place, canary.kind, canary.way, form)
                for place, content in places.items()
                if needle in content and not belongs(canary.kind, place)
            )
    return found


def belongs(kind: Kind, place: str) -> bool:
    """Whether canaries of that kind may stand there."""
    return any(fnmatchcase(place, pattern) for pattern in PLACES[kind])


def _inner_base64(plain: bytes, shift: int) -> bytes:
    """What its base64 is whatever stands around it; `shift` bytes stand before it in its group."""
    padded = bytes(shift) + plain
    encoded = base64.b64encode(padded[: len(padded) // 3 * 3])
    return encoded[4:] if shift else encoded
