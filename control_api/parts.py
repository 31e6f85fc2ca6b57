"""The parts of the API, each mountable by itself."""

from typing import Final, Literal

Part = Literal["management", "history", "privileged", "outcomes"]
PARTS: Final[tuple[Part, ...]] = ("management", "history", "privileged", "outcomes")
