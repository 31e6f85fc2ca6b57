"""GET a tenant's exclusion calendars."""

from tests.support.api import OTHER, TENANT, Api
from tests.support.ladder import ReadLadder

PATH = f"/v1/tenants/{TENANT}/calendars"


class TestListCalendars(ReadLadder):
    path = "/v1/tenants/{tenant}/calendars"
    unknown_path = "/v1/tenants/nobody/calendars"


def test_list_calendars_is_the_tenants_own_by_name(api: Api) -> None:
    api.json("PUT", PATH + "/works", {"dates": ["2026-12-24", "2026-05-01"]})
    api.json("PUT", PATH + "/empty", {})
    api.json("PUT", f"/v1/tenants/{OTHER}/calendars/theirs", {})
    page = api.json("GET", PATH)
    assert [each["name"] for each in page["items"]] == ["empty", "works"]
    empty, works = page["items"]
    assert (empty["count"], empty["first"], empty["last"]) == (0, None, None)
    assert (works["count"], works["first"], works["last"]) == (2, "2026-05-01", "2026-12-24")
