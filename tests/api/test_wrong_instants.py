"""Instants outside the years that the service knows: refused by name, on every way in."""

from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import pytest

from control_api.answers.zone_times import read_bound
from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.instants import from_text, to_text
from tests.support.api import HOOK, TENANT, Api, a_trigger_body, problem

PATH: Final = f"/v1/tenants/{TENANT}/triggers/digest"
WRONG: Final = (
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00",
    "1899-12-31T23:59:59Z",
    "1900-01-01T00:00:00+00:01",
    "1900-01-01T00:00",  # Berlin is ahead of UTC
    "2499-12-31T23:59:59-01:00",
    "2500-01-01T00:00:00Z",
    "2500-01-01T00:00",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
    "9999-12-31T23:59",
)
RIGHT: Final = ("1900-01-01T00:00:00Z", "2499-12-31T23:59:59Z", "2499-12-31T23:59:59.999999Z")
KEYS: Final = ("starts_at", "ends_at")
SAYS: Final = "the year must lie from 1900 to 2499"


def preview_body(**changes: Any) -> dict[str, Any]:
    return {"schedule": "0 9 * * *", "zone": "Europe/Berlin", **changes}


def manifest_body(**changes: Any) -> dict[str, Any]:
    trigger = a_trigger_body(**{"target": "shop", **changes})
    tenant = {"targets": {"shop": {"url": HOOK}}, "triggers": {"digest": trigger}}
    return {"manifests": [{"tenants": {TENANT: tenant}}]}


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("key", KEYS)
def test_trigger_with_an_instant_out_of_bounds_is_422(api: Api, key: str, text: str) -> None:
    answer = api.call("PUT", PATH, a_trigger_body(**{key: text}))
    assert problem(answer) == (422, [key])
    assert SAYS in answer.json()["detail"]


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("key", [*KEYS, "from"])
def test_preview_with_an_instant_out_of_bounds_is_422(api: Api, key: str, text: str) -> None:
    answer = api.call("POST", "/v1/preview", preview_body(**{key: text}))
    assert problem(answer) == (422, [key])
    assert SAYS in answer.json()["detail"]


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("key", KEYS)
def test_manifest_with_an_instant_out_of_bounds_is_422(api: Api, key: str, text: str) -> None:
    answer = api.call("POST", "/v1/apply", manifest_body(**{key: text}))
    assert problem(answer)[0] == 422
    assert SAYS in answer.text


@pytest.mark.parametrize("text", [text for text in WRONG if len(text) > len("1900-01-01T00:00")])
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/fires", "since"),
        ("/v1/fires", "through"),
        ("/v1/fires", "changed_since"),
        ("/v1/audit", "since"),
        (f"{PATH}/upcoming", "since"),
        (f"/v1/tenants/{TENANT}/upcoming", "through"),
        (f"{PATH}/why", "instant"),
    ],
)
def test_query_with_an_instant_out_of_bounds_is_422(
    api: Api, path: str, name: str, text: str
) -> None:
    api.json("PUT", PATH, a_trigger_body())
    answer = api.call("GET", f"{path}?{name}={quote(text)}")
    assert problem(answer) == (422, [name])
    assert "1900 to 2499" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("key", "text"), [("starts_at", RIGHT[0]), ("ends_at", RIGHT[1]), ("ends_at", RIGHT[2])]
)
def test_instant_at_the_bounds_is_taken(api: Api, key: str, text: str) -> None:
    assert api.call("PUT", PATH, a_trigger_body(**{key: text})).status_code == 201
    assert api.call("POST", "/v1/preview", preview_body(**{key: text})).status_code == 200
    assert api.call("POST", "/v1/apply", manifest_body(**{key: text})).status_code == 200
    assert api.call("GET", f"{PATH}/upcoming", since=text).status_code == 200
    assert api.call("GET", f"{PATH}/why", instant=text).status_code == 200


@pytest.mark.parametrize("text", RIGHT)
def test_preview_from_the_bounds_shows_what_lies_ahead(api: Api, text: str) -> None:
    told = api.json("POST", "/v1/preview", preview_body(**{"from": text, "count": 1}))
    ahead = [each["scheduled_instant"] for each in told["instants"]]
    assert ahead == (["1900-01-01T08:00:00Z"] if text.startswith("1900") else [])


def test_offset_that_leads_out_of_the_calendar_is_a_value_error() -> None:
    for text in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        with pytest.raises(ValueError, match="outside of the years 1 to 9999"):
            from_text(text)
    for text in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"):
        assert to_text(from_text(text)) == text


@pytest.mark.parametrize(
    ("key", "year"), [("starts_at", 2500), ("starts_at", 9999), ("ends_at", 1899), ("ends_at", 1)]
)
def test_window_beyond_the_tables_holds_no_instant(key: str, year: int) -> None:
    moment = datetime(year, 12, 31, tzinfo=UTC)
    with pytest.raises(InvalidRecurrence, match="no instant lies inside this window") as raised:
        compile_recurrence(
            "0 9 * * *",
            "UTC",
            starts_at=moment if key == "starts_at" else None,
            ends_at=moment if key == "ends_at" else None,
        )
    assert raised.value.field == key


@pytest.mark.parametrize("text", ["999999999d", "1900-01-01", "1900-01-01T00:00"])
def test_bound_before_the_first_year_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"--from: .*1900"):
        read_bound(text, "Europe/Berlin", field="--from", now_us=0)
