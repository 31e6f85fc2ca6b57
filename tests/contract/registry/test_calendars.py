"""apply, calendars: revisions, the triggers that follow them, and what refuses a change."""

from typing import Any

import pytest

from ports.changes import ChangeKind, ChangeResult, DeleteCalendar, PutCalendar, PutTrigger
from ports.errors import ChangeRefused, ProblemKind
from ports.records import CalendarRecord
from scheduling.limits import CALENDARS_PER_TRIGGER_MAX
from scheduling.versions import recurrence_of
from scheduling.vocabulary import SpanKind, TriggerState
from tests.contract.factories import StoreHarness
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import START_US, TENANT, a_definition, at

DAY_S = 86_400
# The suites begin on 2026-03-02, a Monday; instants of the daily trigger are a day apart.
DAILY: dict[str, Any] = {"recurrence": ("0 12 * * *",)}
NOON_S = 43_200
CHRISTMAS = "DTSTART:20261225 RRULE:FREQ=YEARLY;COUNT=2"


def put_calendar(crank: HandCrank, *dates: str, **changes: Any) -> ChangeResult:
    facts = {"tenant_id": TENANT, "calendar_id": "holidays", "dates": dates, **changes}
    return crank.apply(PutCalendar(**facts))[0]


def refusal(crank: HandCrank, *changes: Any) -> tuple[ProblemKind, str, str]:
    with pytest.raises(ChangeRefused) as caught:
        crank.apply(*changes)
    (problem,) = caught.value.details
    return problem.kind, problem.field, problem.text


def due_days(crank: HandCrank, count: int, name: str = "job") -> list[float]:
    """The next due times of the current version, in days since the start's noon."""
    record = crank.trigger(name)
    definition = crank.store.registry.definition(TENANT, record.trigger_id, version=record.version)
    assert definition is not None
    recurrence = recurrence_of(definition, tenant_id=TENANT, name=name)
    found = recurrence.between_us(crank.now_us, crank.now_us + 10**15, count)
    return [(instant_us - at(NOON_S)) / (DAY_S * 1_000_000) for instant_us in found]


def test_new_calendar_has_its_first_revision_and_reads_back_whole(crank: HandCrank) -> None:
    result = put_calendar(crank, "2026-05-01", "2026-03-03", "2026-05-01", rules=(CHRISTMAS,))
    assert (result.kind, result.subject, result.revision) == (ChangeKind.CREATED, "holidays", 1)
    assert crank.store.registry.calendars(TENANT) == [
        CalendarRecord(
            tenant_id=TENANT,
            calendar_id="holidays",
            rules=(CHRISTMAS,),
            dates=("2026-03-03", "2026-05-01", "2026-12-25", "2027-12-25"),
            own_dates=("2026-03-03", "2026-05-01"),
            revision=1,
        )
    ]
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.action, entry.subject, entry.prior_value) == ("calendar_put", "holidays", None)


def test_equal_content_in_another_order_writes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    put_calendar(crank, "2026-05-01", "2026-03-03")
    before = peek.content()
    result = put_calendar(crank, "2026-03-03", "2026-05-01", "2026-03-03")
    assert (result.kind, result.revision) == (ChangeKind.UNCHANGED, 1)
    assert peek.content() == before


def test_trigger_is_never_due_on_a_date_of_its_calendars(crank: HandCrank) -> None:
    put_calendar(crank, "2026-03-03")
    put_calendar(crank, calendar_id="works", rules=("EXDATE:20260304",))
    crank.put(**DAILY, calendars=("works", "holidays", "works"), exclusions=("2026-03-02",))
    assert due_days(crank, 2) == [3, 4]
    assert crank.trigger().next_due_us == at(NOON_S + 3 * DAY_S)
    crank.commit_at(NOON_S + 3 * DAY_S)
    assert crank.lines() == [f"{NOON_S + 3 * DAY_S} ready"]


def test_edited_calendar_gives_its_triggers_a_version_and_keeps_their_payloads(
    crank: HandCrank, harness: StoreHarness
) -> None:
    put_calendar(crank, "2026-03-03")
    crank.put(**DAILY, calendars=("holidays",), payload=b"kept")
    crank.put("other", **DAILY)
    result = put_calendar(crank, "2026-03-04")
    assert (result.kind, result.revision) == (ChangeKind.EDITED, 2)
    assert (crank.trigger().version, crank.trigger().revision) == (2, 2)
    assert crank.trigger("other").version == 1
    assert due_days(crank, 3) == [0, 1, 3]
    other_process = harness.open()  # which has none of it in memory
    found = other_process.registry.definition(TENANT, crank.ids["job"], version=2)
    assert found is not None
    assert (found.calendars, [each.revision for each in found.exclusion_calendars]) == (
        ("holidays",),
        [2],
    )
    (fire,) = crank.claim(crank.commit_at(NOON_S))
    assert fire.payload == b"kept"


def test_edited_calendar_is_told_for_itself_and_for_each_trigger(crank: HandCrank) -> None:
    put_calendar(crank, "2026-03-03")
    crank.put(**DAILY, calendars=("holidays",))
    put_calendar(crank, "2026-03-04")
    newest, calendar, *_ = crank.store.audit.entries(limit=2)
    assert (newest.action, newest.subject) == ("trigger_edited", "job")
    assert newest.note == "calendar holidays has revision 2 now"
    assert '"calendar_revision": 1' in (newest.prior_value or "")
    assert (calendar.action, calendar.prior_value) == (
        "calendar_put",
        '{"revision": 1, "rules": [], "dates": ["2026-03-03"]}',
    )
    assert [event.event for event in crank.store.outbox.pending(limit=9)] == ["TriggerChanged"] * 2


def test_edited_calendar_decides_what_is_due_under_the_old_one_first(crank: HandCrank) -> None:
    put_calendar(crank, "2026-05-01")
    crank.put(**DAILY, calendars=("holidays",))
    crank.to(NOON_S + 10)
    put_calendar(crank, "2026-03-02", "2026-03-03")
    assert crank.lines() == [f"{NOON_S} held due_later"]
    assert due_days(crank, 1) == [2]


def test_edited_calendar_leaves_a_paused_trigger_paused_with_its_note(crank: HandCrank) -> None:
    put_calendar(crank, "2026-05-01")
    crank.put(**DAILY, calendars=("holidays",))
    crank.pause(note="holiday of the team")
    put_calendar(crank, "2026-03-03")
    record = crank.trigger()
    assert (record.state, record.version) == (TriggerState.PAUSED, 2)
    assert record.pause_note == "holiday of the team"
    newest = crank.store.registry.spans(TENANT, record.trigger_id)[-1]
    assert (newest.kind, newest.version) == (SpanKind.PAUSED, 2)


def test_equal_trigger_after_an_edit_of_its_calendar_changes_nothing(crank: HandCrank) -> None:
    put_calendar(crank, "2026-05-01")
    crank.put(**DAILY, calendars=("holidays",))
    put_calendar(crank, "2026-03-03")
    result = crank.put(**DAILY, calendars=("holidays",))
    assert (result.kind, result.version) == (ChangeKind.UNCHANGED, 2)


def test_trigger_that_drops_its_calendar_follows_it_no_more(crank: HandCrank) -> None:
    put_calendar(crank, "2026-05-01")
    crank.put(**DAILY, calendars=("holidays",))
    assert crank.put(**DAILY).version == 2
    put_calendar(crank, "2026-03-03")
    assert crank.trigger().version == 2
    assert due_days(crank, 2) == [0, 1]


def test_dry_run_of_an_edit_leaves_the_old_dates(crank: HandCrank) -> None:
    put_calendar(crank, "2026-03-02")
    crank.put(**DAILY, calendars=("holidays",))
    change = PutCalendar(tenant_id=TENANT, calendar_id="holidays", dates=("2026-03-03",))
    (result,) = crank.apply(change, dry_run=True)
    assert (result.kind, result.revision) == (ChangeKind.EDITED, 2)
    assert due_days(crank, 2) == [1, 2]
    # Its revision comes again, with other dates: nothing of the dry run may be remembered.
    put_calendar(crank, "2026-03-04")
    assert due_days(crank, 3) == [0, 1, 3]


def test_calendar_and_its_trigger_in_one_call_find_each_other(crank: HandCrank) -> None:
    definition = a_definition(**DAILY, calendars=("holidays",))
    crank.apply(
        PutCalendar(tenant_id=TENANT, calendar_id="holidays", dates=("2026-03-02",)),
        PutTrigger(tenant_id=TENANT, name="job", definition=definition),
    )
    assert due_days(crank, 1) == [1]


def test_deleted_calendar_comes_again_with_the_next_revision(crank: HandCrank) -> None:
    put_calendar(crank, "2026-03-03")
    (deleted,) = crank.apply(DeleteCalendar(tenant_id=TENANT, calendar_id="holidays"))
    assert deleted.kind is ChangeKind.DELETED
    assert crank.store.registry.calendars(TENANT) == []
    result = put_calendar(crank, "2026-03-03")
    assert (result.kind, result.revision) == (ChangeKind.CREATED, 2)


def test_deleted_trigger_does_not_hold_its_calendar(crank: HandCrank) -> None:
    put_calendar(crank, "2026-03-03")
    crank.put(**DAILY, calendars=("holidays",))
    crank.delete()
    crank.apply(DeleteCalendar(tenant_id=TENANT, calendar_id="holidays", expected_revision=1))
    assert crank.store.registry.calendars(TENANT) == []


@pytest.mark.parametrize(
    ("change", "kind", "field", "part"),
    [
        pytest.param(
            PutCalendar(tenant_id="nobody", calendar_id="holidays"),
            ProblemKind.NOT_FOUND,
            "tenant",
            "no tenant 'nobody'",
            id="unknown-tenant",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id=""),
            ProblemKind.INVALID,
            "name",
            "use 1 to 128",
            id="no-name",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id="new", rules=("FREQ=HOURLY",)),
            ProblemKind.INVALID,
            "rules[0].FREQ",
            "calendar acme/new: rules[0].FREQ: 'HOURLY': a calendar is of whole dates",
            id="bad-rule",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id="new", dates=("2026-05-01", "tomorrow")),
            ProblemKind.INVALID,
            "dates[1]",
            "write dates as 2026-12-24",
            id="bad-date",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id="holidays", expected_revision=7),
            ProblemKind.STALE,
            "revision",
            "has revision 1, expected was 7",
            id="stale",
        ),
        pytest.param(
            PutCalendar(tenant_id=TENANT, calendar_id="holidays", expected_revision=0),
            ProblemKind.STALE,
            "revision",
            "exists already",
            id="exists",
        ),
        pytest.param(
            DeleteCalendar(tenant_id=TENANT, calendar_id="works"),
            ProblemKind.NOT_FOUND,
            "calendar",
            "no calendar 'works'",
            id="delete-unknown",
        ),
        pytest.param(
            DeleteCalendar(tenant_id=TENANT, calendar_id="holidays", expected_revision=2),
            ProblemKind.STALE,
            "revision",
            "has revision 1",
            id="delete-stale",
        ),
        pytest.param(
            DeleteCalendar(tenant_id=TENANT, calendar_id="holidays"),
            ProblemKind.CONFLICT,
            "calendar",
            "used by the trigger 'job': take it out",
            id="delete-in-use",
        ),
    ],
)
def test_calendar_change_is_refused_with_kind_field_and_remedy(
    crank: HandCrank, change: Any, kind: ProblemKind, field: str, part: str
) -> None:
    put_calendar(crank, "2026-05-01")
    crank.put(**DAILY, calendars=("holidays",))
    found = refusal(crank, change)
    assert found[:2] == (kind, field)
    assert part in found[2]


def test_edit_that_would_leave_a_trigger_nothing_is_refused_naming_it(
    crank: HandCrank, peek: StorePeek
) -> None:
    put_calendar(crank, "2026-05-01")
    crank.put(recurrence=("at 2026-03-03T12:00",), calendars=("holidays",))
    before = peek.content()
    change = PutCalendar(tenant_id=TENANT, calendar_id="holidays", dates=("2026-03-03",))
    kind, field, text = refusal(crank, change)
    assert (kind, field) == (ProblemKind.INVALID, "calendars")
    assert text == "acme/job: calendars: with these dates excluded it would never fire"
    assert peek.content() == before


def test_calendar_that_too_many_triggers_use_is_not_changed(
    crank: HandCrank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.sqlite_calendars.CALENDAR_TRIGGERS_MAX", 2)
    put_calendar(crank, "2026-05-01")
    for name in ("one", "two"):
        crank.put(name, **DAILY, calendars=("holidays",))
    assert put_calendar(crank, "2026-05-02").revision == 2
    crank.put("three", **DAILY, calendars=("holidays",))
    change = PutCalendar(tenant_id=TENANT, calendar_id="holidays", dates=("2026-03-03",))
    kind, _, text = refusal(crank, change)
    assert kind is ProblemKind.CONFLICT
    assert "used by more than 2 triggers" in text


@pytest.mark.parametrize(
    ("calendars", "part"),
    [
        pytest.param(("nowhere",), "acme has no calendar 'nowhere'", id="unknown"),
        pytest.param(
            tuple(f"c{n}" for n in range(CALENDARS_PER_TRIGGER_MAX + 1)),
            "11 of them; at most 10",
            id="too-many",
        ),
    ],
)
def test_trigger_with_calendars_that_cannot_be_is_refused(
    crank: HandCrank, calendars: tuple[str, ...], part: str
) -> None:
    definition = a_definition(**DAILY, calendars=calendars)
    change = PutTrigger(tenant_id=TENANT, name="job", definition=definition)
    kind, field, text = refusal(crank, change)
    assert (kind, field) == (ProblemKind.INVALID, "calendars")
    assert part in text


def test_suite_begins_on_the_day_that_its_dates_count_from() -> None:
    assert at(0) == START_US == 1_772_409_600_000_000
