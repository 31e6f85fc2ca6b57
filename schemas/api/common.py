"""What the API's models share: instants as RFC 3339 texts, names, pages and problems."""

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from scheduling.instants import to_text

Instant = Annotated[
    int,
    PlainSerializer(to_text, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""Microseconds inside, an RFC 3339 text in UTC outside."""


class Out(BaseModel):
    """An answer's body: built by us, so that it forbids what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class In(BaseModel):
    """A request's body: strict, and a key that nobody reads is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Item = TypeVar("Item")


class Page(Out, Generic[Item]):
    """A part of a list. `cursor` asks for the next part; null at the end."""

    items: list[Item]
    cursor: str | None = None


class FieldProblem(Out):
    field: str
    detail: str


class Problem(Out):
    """RFC 9457, with every field at fault in `errors`."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] | None = None
