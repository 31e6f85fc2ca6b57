"""Cursors of lists: opaque to callers, and refused when they are not ours."""

import base64
import json
from collections.abc import Sequence
from typing import TypeVar

from control_api.problems import ApiProblem, FieldProblem
from schemas.api.common import Page

Item = TypeVar("Item")


def page_of(items: list[Item], last: Sequence[str], *, limit: int) -> Page[Item]:
    """A page; a full one has a cursor, made of the place of its last row."""
    is_full = bool(items) and len(items) >= limit
    return Page[Item](items=items, cursor=cursor_of(last) if is_full else None)


def cursor_of(place: Sequence[str]) -> str:
    """The text that stands for a place in a list."""
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, parts: int) -> list[str] | None:
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
        or len(found) != parts
        or not all(isinstance(part, str) for part in found)
    ):
        raise bad_cursor()
    return found


def bad_cursor() -> ApiProblem:
    """For a cursor that is none of this list."""
    detail = "cursor: send the cursor of the last answer as it came, with the same filters"
    return ApiProblem(400, "bad_cursor", detail, fields=[FieldProblem("cursor", detail)])
