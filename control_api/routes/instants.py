"""Instants in query parameters: RFC 3339 texts outside, microseconds inside."""

from typing import Annotated, Final

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema

from schemas.manifest_fields import instant_us, refusal

_HOW_TO_WRITE: Final = "write an instant as 2026-12-24T17:00:00Z"


def _instant_us(value: object) -> int | None:
    if value is None or isinstance(value, int):
        return value
    if not isinstance(value, str):
        raise refusal(_HOW_TO_WRITE)
    return instant_us(plus_again(value), remedy=_HOW_TO_WRITE)


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
