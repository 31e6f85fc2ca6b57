"""Cursors of lists: opaque to callers, and refused when they are not ours, or of another list."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from control_api.problems import ApiProblem, FieldProblem
from schemas.api.common import Page

Item = TypeVar("Item")
Row = TypeVar("Row")


class Cursor(NamedTuple):
    """Where a page begins, and how long it may be.

    text:  as the caller sent it; None at the start
    kind:  of which list it is, with what its path narrows it to; another list's is refused
    """

    text: str | None
    limit: int
    kind: str = ""

    def of(self, *kind: str) -> "Cursor":
        """The same, of that list."""
        return self._replace(kind="/".join(kind))

    def place(self, parts: int) -> list[str] | None:
        """The place behind which the page begins, as `parts` texts."""
        return read_cursor(self.kind, self.text, parts)

    def page(
        self,
        rows: Sequence[Row],
        item_of: Callable[[Row], Item],
        place_of: Callable[[Row], Sequence[str]],
    ) -> Page[Item]:
        """The page of these rows; a full one has a cursor, made of the place of its last row."""
        items = [item_of(row) for row in rows]
        is_full = bool(rows) and len(rows) >= self.limit
        written = cursor_of(self.kind, place_of(rows[-1])) if is_full else None
        return Page[Item](items=items, cursor=written)


def cursor_of(kind: str, place: Sequence[str]) -> str:
    """The text that stands for a place in a list of that kind."""
    written = json.dumps([kind, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")


def read_cursor(kind: str, cursor: str | None, parts: int) -> list[str] | None:
    """The place that a cursor stands for, as `parts` texts."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        found = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, RecursionError):
        found = None
    if (
        not isinstance(found, list)
        or len(found) != 1 + parts
        or not all(isinstance(part, str) and _can_be_stored(part) for part in found)
        or found[0] != kind
    ):
        raise bad_cursor()
    return found[1:]


def bad_cursor() -> ApiProblem:
    """For a cursor that is none of this list."""
    detail = "cursor: send the cursor of the last answer as it came, with the same filters"
    return ApiProblem(400, "bad_cursor", detail, fields=[FieldProblem("cursor", detail)])


def _can_be_stored(text: str) -> bool:
    """Half of a surrogate pair is a text that JSON can hold and no store can look for."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)
