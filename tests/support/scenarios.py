"""The worked scenarios: rows of `tests/cases/scenarios.jsonl`, their words mapped to ours.

A row's `misfire` is our missed policy, its `queue` our `buffer_all`, its `start_at` our
`starts_at`, its names in lower case ours; a fire counts as late from 5 s on, or when the catch-up
lane carried it.
"""

import json
import re
from datetime import timedelta
from typing import Any, Final

from scheduling.instants import SECOND_US, to_text
from scheduling.vocabulary import Cause, Lane, MissedPolicy, OverlapPolicy
from tests.support.repository import ROOT
from tests.support.service import Service
from tests.support.ways import WAYS, Fate, Wish

LATE_US: Final = 5 * SECOND_US
OVERLAPS: Final = {"queue": OverlapPolicy.BUFFER_ALL}
NOT_FIRED: Final = {
    Cause.SKIPPED_BY_POLICY: "missed_skipped",
    Cause.OVERLAP: "overlap_skipped",
    Cause.EXPIRED_PAST_HORIZON: "missed_expired",
}
FIRED: Final = ("fired_on_time", "fired_late")

# Where our documented rule is another than the row's, or its answer is not checked as it stands;
# docs/semantics.md has the same table.
DIFFERS: Final = {
    "br-014": "no route tells the previous fire; the newest of the night is it",
    "br-017": "created on an instant: our clock may be behind by its error bound, so it counts",
    "br-030": "created on an instant: our clock may be behind by its error bound, so it counts",
    "br-039": "no route tells the previous fire; the newest by then is it",
    "br-044": "how long the answer takes is counted in calls, not in time",
    "br-047": "how long the answer takes is counted in calls, not in time",
    "br-056": "six hours late is past the one-hour horizon, which is judged before the policy",
    "br-082": "the loop looks once a second by design: about 600 times in ten minutes",
    "br-095": "each owner judges by its own clock, which it cannot find out to lie steadily",
}
UNTESTED: Final = {"br-108": "backfills are not built yet"}

Row = dict[str, Any]


def scenario_rows() -> dict[str, Row]:
    """Every row by its id."""
    text = (ROOT / "tests/cases/scenarios.jsonl").read_text(encoding="utf-8")
    rows: list[Row] = [json.loads(line) for line in text.splitlines()]
    return {row["id"]: row for row in rows}


def wish_of(trigger: Row) -> Wish:
    """The row's trigger in our words."""
    horizon = trigger.get("catch_up_horizon")
    return Wish(
        trigger["expr"],
        trigger["zone"],
        MissedPolicy(trigger["misfire"]),
        OVERLAPS.get(trigger["overlap"]) or OverlapPolicy(trigger["overlap"]),
        starts_at=trigger.get("start_at"),
        horizon_s=None if horizon is None else duration_s(horizon),
    )


def duration_s(text: str) -> int:
    """Seconds of an ISO 8601 duration of hours, minutes and seconds."""
    found = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?", text)
    assert found is not None, text
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return int(timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds())


class Play:
    """Plays a row's steps on a service, in their order, and reads what became of its fires.

    `way` is how people and targets talk to the service.
    """

    def __init__(self, row: Row, service: Service, way: str) -> None:
        listed = row["case"]["trigger"]
        triggers = listed if isinstance(listed, list) else [{"name": "a", **listed}]
        self.triggers: dict[str, Row] = {trigger["name"].lower(): trigger for trigger in triggers}
        self.service = service
        self.way = WAYS[way](service)

    def step(self, do: str) -> None:
        """One step, in the row's own words."""
        if do in ("running", "create") or do.startswith("create trigger"):
            self._create("a")
        elif do.startswith("create "):
            self._create(do.split()[1][0].lower())
        elif do.startswith("update "):
            self._update(do)
        elif do == "pause":
            self.way.pause("a")
        elif do == "resume":
            self.way.resume("a")
        elif do in ("leader change", "scheduler restarts"):
            self._replace_engines()
        elif do == "leader dies":
            self.service.kill()
        elif do == "stop":
            self.service.stop()
        elif do in ("start", "new leader"):
            self.service.start("next")
        elif "read" not in do:
            raise AssertionError(f"no such step: {do}")

    def ledger(self) -> dict[str, list[Row]]:
        """Every row that was ever decided, by its trigger's name, oldest first, in the rows' words.

        A range, and what an instant coalesced into, come on top: no scenario speaks of them.
        """
        found: dict[str, list[Row]] = {}
        for fate in self.way.fates():
            found.setdefault(fate.trigger, []).append(entry_of(fate))
        return found

    def received(self) -> dict[str, list[str]]:
        """The instants that the target received, each as often as it came, by trigger."""
        found: dict[str, list[str]] = {}
        for receipt in self.service.target.receipts:
            instant = to_text(receipt.fire.key.scheduled_us)
            found.setdefault(receipt.fire.trigger_name, []).append(instant)
        return found

    def starts(self, name: str = "a") -> list[Row]:
        """When each fire's first attempt arrived, to the second."""
        return [
            {
                "nominal": to_text(receipt.fire.key.scheduled_us),
                "actual": to_text(receipt.at_us // SECOND_US * SECOND_US),
            }
            for receipt in self.service.target.receipts
            if receipt.fire.n == 1 and receipt.fire.trigger_name == name
        ]

    def put(self, name: str, **changes: str) -> None:
        """Create a trigger of the row, or edit it: `changes` by the row's own keys."""
        self.way.put(name, wish_of(self.triggers[name] | changes))

    def _create(self, name: str) -> None:
        if not self.service.engines:
            self.service.start()
        self.put(name)

    def _update(self, do: str) -> None:
        found = re.fullmatch(r'update (?:expr to "(?P<expr>.+)"|zone to (?P<zone>\S+))', do)
        assert found is not None, do
        changes = {key: value for key, value in found.groupdict().items() if value}
        self.put("a", **changes)

    def _replace_engines(self) -> None:
        for owner_id in list(self.service.engines):
            self.service.stop(owner_id)
        self.service.start("next")


def fired_of(entries: list[Row]) -> list[str]:
    """The instants of those that were sent."""
    return [each["nominal"] for each in entries if each["state"] in FIRED]


def entry_of(fate: Fate) -> Row:
    """A row of the ledger in the rows' words."""
    entry: Row = {"nominal": to_text(fate.scheduled_us), "state": _word(fate)}
    if fate.into_us is not None:
        entry["into"] = to_text(fate.into_us)
    if fate.through_us is not None and fate.through_us > fate.scheduled_us:
        entry["through"] = to_text(fate.through_us)
    if fate.instant_count > 1:
        entry["count"] = fate.instant_count
    return entry


def _word(fate: Fate) -> str:
    if fate.first_dispatched_us is None:
        if fate.cause is None:
            return fate.state.value
        return NOT_FIRED.get(fate.cause, fate.cause.value)
    late_us = fate.first_dispatched_us - fate.due_us
    if fate.lane is Lane.ON_TIME and late_us <= LATE_US:
        return "fired_on_time"
    return "fired_late"
