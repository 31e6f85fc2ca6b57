"""Instants in query parameters: RFC 3339 texts outside, microseconds inside."""

from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema

from scheduling.instants import from_text
from schemas.manifest_fields import refusal


def _instant_us(value: object) -> int | None:
    if value is None or isinstance(value, int):
        return value
    try:
        if isinstance(value, str) and "T" in value:
            return from_text(plus_again(value))
    except (ValueError, OverflowError):
        pass
    raise refusal("write an instant as 2026-12-24T17:00:00Z")


def plus_again(text: str) -> str:
    """An instant whose offset lost its plus: in a query `+` stands for a space."""
    return text.replace(" ", "+") if "T" in text else text


InstantQuery = Annotated[
    int | None,
    BeforeValidator(_instant_us),
    WithJsonSchema({"type": "string", "format": "date-time"}),
    Query(),
]
"""None where the parameter is left out."""
