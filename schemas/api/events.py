"""Published events, as the API shows them."""

from typing import Any

from schemas.api.common import Instant, Out


class EventOut(Out):
    """One event. The same `event_id` is the same event, should it come again."""

    offset: int
    event_id: str
    event: str
    tenant: str
    trigger_id: str
    at: Instant
    body: dict[str, Any]


class EventsOut(Out):
    """Events after an offset, oldest first.

    next_after:   go on after this offset, also when there are no items
    kept_after:   the log still holds what came after this offset; a reader that stopped before
                  has missed what was forgotten
    kept_through: the newest offset
    """

    items: list[EventOut]
    next_after: int
    kept_after: int
    kept_through: int
