"""The ownership port as a test says: who was asked, and what every host answers."""

from dataclasses import dataclass, field

from ports.ownership import OwnershipAnswer, OwnershipPort
from schemas.well_known import ownership_url


@dataclass(slots=True)
class ScriptedOwnership(OwnershipPort):
    """Hosts prove their owner or do not, all alike."""

    is_proven: bool = False
    asked: list[str] = field(default_factory=list)

    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        url = ownership_url(endpoint)
        self.asked.append(url)
        if self.is_proven:
            return OwnershipAnswer(True, f"{url} serves the line")
        return OwnershipAnswer(False, f"the host answered 404; {expected} has to stand at {url}")
