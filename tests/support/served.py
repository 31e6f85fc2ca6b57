"""The API and the hand-cranked service on one store, their clocks in step."""

from dataclasses import dataclass, field
from typing import Any

from adapters.sqlite_database import SqliteDatabase
from scheduling.instants import from_text
from tests.support.api import TENANT, Api, a_trigger_body
from tests.support.scripted_target import Answer
from tests.support.service import Service


@dataclass(slots=True)
class Served:
    """Changes and questions go through the API; `service` decides, sends and reports."""

    api: Api
    service: Service = field(init=False)

    def __post_init__(self) -> None:
        self.service = Service(self.api.folder, self.api.now_us)

    def start(self) -> "Served":
        """Somebody decides and sends from now on."""
        self.service.start()
        return self

    def stop(self) -> None:
        self.service.stop()

    def to(self, instant: str) -> None:
        """Let time pass: `2026-03-02T00:05:00Z`, or `00:05:30` on that day."""
        text = instant if "T" in instant else f"2026-03-02T{instant}Z"
        self.service.advance_to(from_text(text))
        self.api.clock.advance(self.service.now_us - self.api.now_us)

    def answers(self, *answers: Answer) -> None:
        """What the target says to one attempt after the other; the last one for all further."""
        left = list(answers)
        self.service.target.script = lambda fire: left.pop(0) if len(left) > 1 else left[0]

    def put(self, name: str = "job", **changes: Any) -> str:
        """A trigger, every minute in UTC unless told otherwise; its path."""
        body = a_trigger_body(**{"schedule": "* * * * *", "zone": "UTC", **changes})
        path = self.path(name)
        self.api.json("PUT", path, body, headers={"If-Match": "*"} if self.has(name) else None)
        return path

    def has(self, name: str) -> bool:
        return bool(self.api.call("GET", self.path(name)).is_success)

    def path(self, name: str = "job") -> str:
        return f"/v1/tenants/{TENANT}/triggers/{name}"

    def why(self, instant: str | None = None, name: str = "job") -> list[dict[str, Any]]:
        """The answers; `00:05` is meant of the first day."""
        params = {}
        if instant is not None:
            params["instant"] = instant if "T" in instant else f"2026-03-02T{instant}Z"
        answers: list[dict[str, Any]] = self.api.json("GET", f"{self.path(name)}/why", **params)[
            "answers"
        ]
        return answers

    def plant(self, statement: str) -> None:
        """Make the store as no rule of the service would."""
        database = SqliteDatabase(self.api.folder / "store.db", synchronous="OFF")
        with database.write() as connection:
            connection.execute(statement)
        database.close()

    def after_an_outage(self, **changes: Any) -> None:
        """`job` ran until 00:03:30, nobody decided until 00:40:30, and it runs again."""
        self.put(**changes)
        self.start()
        self.to("00:03:30")
        self.stop()
        self.to("00:40:30")
        self.start()
        self.to("00:41:30")

    def close(self) -> None:
        self.service.close()
