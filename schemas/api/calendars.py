"""Exclusion calendars as the API shows them; their bodies are `schemas.manifest.CalendarSpec`."""

from schemas.api.common import Out


class CalendarOut(Out):
    """A calendar of dates on which the triggers that name it are not due.

    rules, dates:  as they were put
    excludes:      every date of both, sorted and each once; rules without an end stop in 2399
    """

    tenant: str
    name: str
    revision: int
    rules: list[str]
    dates: list[str]
    excludes: list[str]


class CalendarShown(Out):
    """A calendar as lists show it: `count` dates in all, the first and the last of them."""

    tenant: str
    name: str
    revision: int
    rules: list[str]
    dates: list[str]
    count: int
    first: str | None
    last: str | None
