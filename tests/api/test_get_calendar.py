"""GET an exclusion calendar."""

from ports.changes import PutCalendar
from tests.support.api import TENANT, Api
from tests.support.ladder import ReadLadder

PATH = f"/v1/tenants/{TENANT}/calendars/works"


class TestGetCalendar(ReadLadder):
    path = "/v1/tenants/{tenant}/calendars/works"
    unknown_path = "/v1/tenants/{tenant}/calendars/nothing"

    def prepare(self, api: Api) -> None:
        api.apply(PutCalendar(tenant_id=TENANT, calendar_id="works", dates=("2026-05-01",)))


def test_get_calendar_is_what_was_put(api: Api) -> None:
    put = api.call("PUT", PATH, {"dates": ["2026-05-01"]})
    answer = api.call("GET", PATH)
    assert answer.json() == put.json()
    assert answer.headers["etag"] == put.headers["etag"]
