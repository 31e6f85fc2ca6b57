"""GET why: the exact sentence for whatever became of an instant, on the hand-cranked service."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ports.principals import GrantKind
from scheduling.vocabulary import FireState
from tests.support.api import TENANT, Api, a_trigger_body, problem
from tests.support.ladder import ReadLadder
from tests.support.scripted_target import (
    ACCEPTED,
    BUSY,
    REFUSED,
    SILENT,
    UNREACHABLE,
    UNTRIED,
    Answer,
)
from tests.support.served import Served

JOB = "acme/job for Mon 2026-03-02"
IDLE = "nothing is running now: start `punctual up`"
TOOK_IT = "and the target took it on attempt 1 with HTTP 200; the work reported success"
TEN_MINUTES_US = 600_000_000


class TestWhy(ReadLadder):
    path = "/v1/tenants/{tenant}/triggers/job/why"
    unknown_path = f"/v1/tenants/{TENANT}/triggers/nothing/why"

    def prepare(self, api: Api) -> None:
        api.json("PUT", f"/v1/tenants/{TENANT}/triggers/job", a_trigger_body())


def on_time(served: Served) -> None:
    served.put()
    served.start().to("00:01:30")


def late(served: Served) -> None:
    served.put()
    served.to("00:01:20")
    served.start().to("00:01:30")


def outage(served: Served) -> None:
    served.after_an_outage()


def outage_under_fire_all(served: Served) -> None:
    served.after_an_outage(missed="fire_all")
    served.to("00:45:00")


def long_outage(served: Served) -> None:
    served.put()
    served.start().to("00:01:30")
    served.stop()
    served.to("02:00:30")
    served.start().to("02:01:30")


def long_outage_with_a_horizon(served: Served) -> None:
    served.put(horizon="10m")
    served.start().to("00:01:30")
    served.stop()
    served.to("01:00:30")
    served.start().to("01:01:30")


def paused(served: Served) -> None:
    path = served.put()
    served.start().to("00:02:30")
    served.api.json("POST", f"{path}:pause", {"note": "price change"})
    served.to("00:10:30")


def paused_and_edited(served: Served) -> None:
    paused(served)
    served.api.principal("editor", GrantKind.AUTHOR)
    body = a_trigger_body(schedule="* * * * *", zone="UTC", smear_s=1)
    served.api.json("PUT", served.path(), body, by="editor", headers={"If-Match": "*"})
    served.to("00:11:30")


def resumed(served: Served) -> None:
    paused(served)
    served.api.json("POST", f"{served.path()}:resume", {})
    served.to("00:12:30")


def paused_again_by_another(served: Served) -> None:
    resumed(served)
    served.api.principal("bob", GrantKind.AUTHOR)
    served.api.json("POST", f"{served.path()}:pause", {"note": "again"}, by="bob")
    served.to("00:14:00")


def overlapping(served: Served) -> None:
    served.answers(Answer(lasts_us=150_000_000))
    served.put(overlap="skip")
    served.start().to("00:02:30")


def buffered(served: Served) -> None:
    served.answers(Answer(lasts_us=150_000_000))
    served.put(overlap="buffer_one", run_timeout="30m")
    served.start().to("00:02:30")


def answered(*answers: Answer, **changes: Any) -> Callable[[Served], None]:
    """The target's answers to the attempts of one fire."""

    def play(served: Served) -> None:
        served.answers(*answers)
        served.put(schedule="1 * * * *", **changes)
        served.start().to("00:01:02")

    return play


def given_up(answer: Answer) -> Callable[[Served], None]:
    def play(served: Served) -> None:
        served.answers(answer)
        served.put(schedule="1 * * * *", retry={"attempts": 2, "window": "10m"})
        served.start().to("00:30:00")

    return play


def quarantined(served: Served) -> None:
    served.put()
    served.plant("""UPDATE trigger_version SET recurrence = '["no"]'""")
    served.start().to("00:05:00")


def edited(served: Served) -> None:
    served.put(schedule="0 * * * *")
    served.start().to("00:30:00")
    served.api.principal("ann", GrantKind.AUTHOR)
    body = a_trigger_body(schedule="0 6 * * *", zone="UTC")
    served.api.json("PUT", served.path(), body, by="ann", headers={"If-Match": "*"})
    served.to("01:30:00")


def edited_late(served: Served) -> None:
    served.put(schedule="0 6 * * *")
    served.start().to("00:30:00")
    served.put(schedule="* * * * *")
    served.to("00:31:30")


def edited_often(served: Served) -> None:
    edited(served)
    for schedule in ("0 7 * * *", "0 8 * * *"):
        served.put(schedule=schedule)
    served.to("02:30:00")


def down(served: Served) -> None:
    on_time(served)
    served.stop()
    served.to("00:10:00")


def just_due(served: Served) -> None:
    served.put()
    served.start().to("00:01:00")


def run_by_hand(served: Served) -> None:
    served.put(schedule="0 6 * * *")
    served.start().to("00:05:00")
    served.api.json("POST", f"{served.path()}:run", {"note": "once more"})
    served.to("00:06:00")


def run_by_hand_while_down(served: Served) -> None:
    served.put(schedule="0 6 * * *")
    served.to("00:05:00")
    served.api.json("POST", f"{served.path()}:run", {})
    served.to("00:06:00")


def run_beside_the_schedule(served: Served) -> None:
    served.put()
    served.to("00:01:00")
    served.api.json("POST", f"{served.path()}:run", {})
    served.start().to("00:01:30")


def cancelled(served: Served) -> None:
    run_by_hand_while_down(served)
    (fire,) = served.api.json("GET", "/v1/fires", tenant=TENANT)["items"]
    served.api.json("POST", f"/v1/fires/{fire['fire_key']}:cancel", {"note": "not now"})


def cancelled_between_tries(served: Served) -> None:
    answered(BUSY)(served)
    (fire,) = served.api.json("GET", "/v1/fires", tenant=TENANT)["items"]
    assert fire["attempts"] == 2
    served.api.json("POST", f"/v1/fires/{fire['fire_key']}:cancel", {"note": "not now"})
    (fire,) = served.api.json("GET", "/v1/fires", tenant=TENANT)["items"]
    assert (fire["state"], fire["attempts"]) == ("undelivered", 2)


def at_its_limit(served: Served) -> None:
    served.put(schedule="*/5 * * * *", max_fires=1)
    served.start().to("00:12:00")


def near_its_limit(served: Served) -> None:
    served.put(schedule="*/5 * * * *", max_fires=2)
    served.start().to("00:07:00")


def with_a_holiday(served: Served) -> None:
    served.put(schedule="0 9 * * *", exclude=["2026-03-02"])


class Case(NamedTuple):
    play: Callable[[Served], None]
    instant: str
    kind: str
    sentence: str


CASES = {
    "fired on time": Case(
        on_time,
        "00:01",
        "fired",
        f"{JOB} 00:01:00Z fired: sent 5 ms after its due time, {TOOK_IT}.",
    ),
    "fired late": Case(
        late, "00:01", "fired", f"{JOB} 00:01:00Z fired: sent 20 s after its due time, {TOOK_IT}."
    ),
    "fired late on the catch-up lane": Case(
        outage_under_fire_all,
        "00:20",
        "fired",
        f"{JOB} 00:20:00Z fired: sent 20 m 30 s after its due time, on the catch-up lane, "
        f"{TOOK_IT}.",
    ),
    "coalesced": Case(
        outage,
        "00:20",
        "not_dispatched",
        f"We decided not to fire {JOB} 00:20:00Z: it was missed and coalesced into the fire of "
        "00:40:00Z (policy fire_once_now), which succeeded.",
    ),
    "expired by the default horizon": Case(
        long_outage,
        "00:30",
        "not_dispatched",
        f"We decided not to fire {JOB} 00:30:00Z: when it was decided at 02:00:29.995Z it was "
        "older than its catch-up horizon of 1h (the default, which nobody chose).",
    ),
    "expired by a chosen horizon": Case(
        long_outage_with_a_horizon,
        "00:30",
        "not_dispatched",
        f"We decided not to fire {JOB} 00:30:00Z: when it was decided at 01:00:29.995Z it was "
        "older than its catch-up horizon of 10m (chosen by root).",
    ),
    "paused": Case(
        paused,
        "00:05",
        "undecided",
        f"{JOB} 00:05:00Z is not decided: the trigger is paused by root at 00:02:30Z (price "
        "change), and its resume says what becomes of it.",
    ),
    "paused and edited by another": Case(
        paused_and_edited,
        "00:11",
        "undecided",
        f"{JOB} 00:11:00Z is not decided: the trigger is paused by root at 00:02:30Z (price "
        "change), and its resume says what becomes of it.",
    ),
    "paused and resumed": Case(
        resumed,
        "00:05",
        "not_dispatched",
        f"We decided not to fire {JOB} 00:05:00Z: the trigger was paused by root at 00:02:30Z "
        "(price change).",
    ),
    "paused once more by another since": Case(
        paused_again_by_another,
        "00:05",
        "not_dispatched",
        f"We decided not to fire {JOB} 00:05:00Z: the trigger was paused by root at 00:02:30Z "
        "(price change).",
    ),
    "paused by another": Case(
        paused_again_by_another,
        "00:13",
        "undecided",
        f"{JOB} 00:13:00Z is not decided: the trigger is paused by bob at 00:12:30Z (again), and "
        "its resume says what becomes of it.",
    ),
    "overlap": Case(
        overlapping,
        "00:02",
        "not_dispatched",
        f"We decided not to fire {JOB} 00:02:00Z: the run before it had not ended (policy skip).",
    ),
    "overlap that waits": Case(
        buffered,
        "00:02",
        "waiting",
        f"{JOB} 00:02:00Z is held: the run before it has not ended (buffer_one), and it goes when "
        "that one ends, 30m after its start at the latest.",
    ),
    "refused by the endpoint": Case(
        answered(REFUSED),
        "00:01",
        "endpoint",
        f"Your endpoint refused {JOB} 00:01:00Z: HTTP 400 at 00:01:00.005Z, and such an answer is "
        "not tried again.",
    ),
    "retrying": Case(
        answered(BUSY),
        "00:01",
        "endpoint",
        f"Your endpoint failed {JOB} 00:01:00Z: 2 tries, the last with HTTP 503 at 00:01:00.494Z; "
        "next try at 00:01:02.204Z.",
    ),
    "retrying after nothing was sent": Case(
        answered(BUSY, UNREACHABLE),
        "00:01",
        "endpoint",
        f"{JOB} 00:01:00Z did not reach your endpoint: 2 tries, the last with connection refused "
        "at 00:01:00.494Z; next try at 00:01:02.204Z.",
    ),
    "not tried for want of our own means": Case(
        answered(UNTRIED),
        "00:01",
        "waiting",
        f"{JOB} 00:01:00Z is held: the service could not try it for want of its own files, memory, "
        "ports or name servers, as its log says, until 00:01:02.005Z; nothing was sent to your "
        "endpoint.",
    ),
    "cancelled between two tries": Case(
        cancelled_between_tries,
        "00:01",
        "endpoint",
        f"Your endpoint failed {JOB} 00:01:00Z: 2 tries, the last with HTTP 503 at 00:01:00.494Z, "
        "and it was cancelled by root: not now.",
    ),
    "fired and failed": Case(
        answered(Answer(outcome=FireState.FAILED, cause="no paper\nin tray 2\x1b[2J")),
        "00:01",
        "fired",
        f"{JOB} 00:01:00Z fired: sent 5 ms after its due time, and the target took it on attempt 1 "
        "with HTTP 200; the work reported failure (the worker said: no paper\\nin tray 2\\x1b[2J).",
    ),
    "fired on the second attempt": Case(
        answered(BUSY, ACCEPTED),
        "00:01",
        "fired",
        f"{JOB} 00:01:00Z fired: sent 5 ms after its due time, and the target took it on attempt 2 "
        "(the first failed) with HTTP 200; the work reported success.",
    ),
    "under way": Case(
        answered(Answer(after_us=5_000_000, lasts_us=None)),
        "00:01",
        "waiting",
        f"{JOB} 00:01:00Z is being sent: attempt 1 began at 00:01:00.005Z and the target has not "
        "answered yet.",
    ),
    "reported before it was answered": Case(
        answered(Answer(after_us=5_000_000)),
        "00:01",
        "fired",
        f"{JOB} 00:01:00Z fired: sent 5 ms after its due time, and the target took it on attempt "
        "1; the work reported success.",
    ),
    "undelivered": Case(
        given_up(BUSY),
        "00:01",
        "endpoint",
        f"Your endpoint failed {JOB} 00:01:00Z: 2 tries, the last with HTTP 503 at 00:01:00.494Z, "
        "and no try is left.",
    ),
    "unknown": Case(
        given_up(SILENT),
        "00:01",
        "endpoint",
        f"Nobody knows whether {JOB} 00:01:00Z ran: 2 tries, the last with timeout at "
        "00:01:20.494Z, so the request may have arrived; no try is left.",
    ),
    "quarantined": Case(
        quarantined,
        "00:02",
        "undecided",
        f"{JOB} 00:02:00Z is not decided: the trigger is quarantined, because its rule failed with "
        "InvalidRecurrence: expression: 'no': has 1 fields; write five cron fields, six with "
        "seconds first, a nickname such as @daily, `every 15m`, or `at 2026-12-24T18:00`; a "
        "corrected definition or `punctual resume` ends that.",
    ),
    "edited away": Case(
        edited,
        "01:00",
        "not_due",
        "acme/job was not due at Mon 2026-03-02 01:00:00Z: ann edited it at 00:30:00Z (version 2), "
        "and its schedule has not had that instant since.",
    ),
    "edited away by the first of several edits": Case(
        edited_often,
        "02:00",
        "not_due",
        "acme/job was not due at Mon 2026-03-02 02:00:00Z: ann edited it at 00:30:00Z (version 2), "
        "and its schedule has not had that instant since.",
    ),
    "in the schedule only since an edit": Case(
        edited_late,
        "00:10",
        "not_due",
        "acme/job was not due at Mon 2026-03-02 00:10:00Z: its schedule has that instant only "
        "since root edited it at 00:30:00Z (version 2).",
    ),
    "not decided while nobody decides": Case(
        down,
        "00:02",
        "undecided",
        f"{JOB} 00:02:00Z is not decided: it was due 8 m ago; {IDLE}.",
    ),
    "far ahead while nobody decides": Case(
        down,
        "00:30",
        "undecided",
        f"{JOB} 00:30:00Z is not decided yet: it is due in 20 m; {IDLE}.",
    ),
    "just due": Case(
        just_due,
        "00:01",
        "undecided",
        f"{JOB} 00:01:00Z is not decided yet: it was due 0 ms ago and one is about to decide it.",
    ),
    "ahead": Case(
        on_time,
        "23:00",
        "undecided",
        f"{JOB} 23:00:00Z is not decided yet: it is due in 22 h 58 m.",
    ),
    "never due": Case(
        on_time,
        "00:01:30",
        "not_due",
        "Mon 2026-03-02 00:01:30Z is not an instant of acme/job's schedule: the nearest are Mon "
        "2026-03-02 00:01:00Z before and Mon 2026-03-02 00:02:00Z after.",
    ),
    "never due on an excluded date": Case(
        with_a_holiday,
        "09:00",
        "not_due",
        "acme/job will not be due at Mon 2026-03-02 09:00:00Z: 2026-03-02 is excluded from its "
        "schedule.",
    ),
    "never due before it was created": Case(
        on_time,
        "2026-03-01T12:00:00Z",
        "not_due",
        "acme/job did not exist at Sun 2026-03-01 12:00:00Z: it was created at Mon 2026-03-02 "
        "00:00:00Z, and its first instant after that is Mon 2026-03-02 00:01:00Z.",
    ),
    "run by hand": Case(
        run_by_hand,
        "00:05",
        "fired",
        "The manual run of acme/job at Mon 2026-03-02 00:05:00Z by root (once more) fired: sent 5 "
        f"ms after its due time, {TOOK_IT}.",
    ),
    "run by hand while nobody sends": Case(
        run_by_hand_while_down,
        "00:05",
        "waiting",
        "The manual run of acme/job at Mon 2026-03-02 00:05:00Z by root is held: its time has "
        f"come, and whoever owns its partition is about to send it; {IDLE}.",
    ),
    "run by hand at an instant of the schedule": Case(
        run_beside_the_schedule,
        "00:01",
        "fired",
        f"{JOB} 00:01:00Z fired: sent 5 ms after its due time, {TOOK_IT}; there is also a manual "
        "run (sequence 1: succeeded).",
    ),
    "cancelled": Case(
        cancelled,
        "00:05",
        "not_dispatched",
        "We decided not to fire the manual run of acme/job at Mon 2026-03-02 00:05:00Z by root: it "
        "was cancelled by root: not now.",
    ),
    "limit of fires reached": Case(
        at_its_limit,
        "00:10",
        "not_due",
        "acme/job did not fire at Mon 2026-03-02 00:10:00Z: it has fired its one time.",
    ),
    "limit of fires reached by then": Case(
        near_its_limit,
        "00:20",
        "not_due",
        "acme/job will not fire at Mon 2026-03-02 00:20:00Z: by then it has fired its 2 times.",
    ),
}


PROMISED = {
    "fired on time", "fired late", "coalesced", "expired by the default horizon", "paused",
    "overlap", "refused by the endpoint", "retrying", "undelivered", "unknown", "quarantined",
    "edited away", "not decided while nobody decides", "never due",
}  # fmt: skip


def test_why_has_a_case_for_every_answer_that_was_promised() -> None:
    assert set(CASES) >= PROMISED


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_why_tells_the_one_sentence(served: Served, case: Case) -> None:
    case.play(served)
    (answer,) = served.why(case.instant)
    assert answer["sentence"] == case.sentence
    assert (answer["about"], answer["answer"]) == ("asked", case.kind)


@pytest.mark.expects_error_log
def test_why_while_the_cursor_is_ahead_tells_until_when_it_is_silent(served: Served) -> None:
    served.put()
    served.service.start("fast", skew_us=TEN_MINUTES_US)
    served.to("00:00:30")
    served.service.stop("fast")
    served.start().to("00:00:40")
    (answer,) = served.why("00:15")
    assert answer["sentence"] == (
        f"{JOB} 00:15:00Z is not decided yet: it is due in 14 m 20 s; until then the trigger is "
        "silent, because everything through 2026-03-02 00:10:00Z was decided before the clock went "
        "back."
    )


def test_why_shows_the_fire_and_its_attempts_behind_the_sentence(served: Served) -> None:
    answered(BUSY, ACCEPTED)(served)
    (answer,) = served.why("00:01")
    assert (answer["trigger"], answer["instant"]) == ("acme/job", "2026-03-02T00:01:00Z")
    assert (answer["fire"]["state"], answer["fire"]["attempts"]) == ("succeeded", 2)
    assert [each["http_status"] for each in answer["attempts"]] == [503, 200]


def test_why_without_an_instant_tells_the_newest_and_the_next(served: Served) -> None:
    on_time(served)
    newest, following = served.why()
    assert (newest["about"], newest["instant"]) == ("newest", "2026-03-02T00:01:00Z")
    assert (following["about"], following["instant"]) == ("next", "2026-03-02T00:02:00Z")


def test_why_without_an_instant_of_a_new_trigger_tells_the_next(served: Served) -> None:
    served.put(schedule="0 6 * * *")
    (following,) = served.why()
    assert (following["about"], following["answer"]) == ("next", "undecided")


def test_why_without_an_instant_of_a_finished_trigger_says_so(served: Served) -> None:
    at_its_limit(served)
    newest, following = served.why()
    assert newest["about"] == "newest"
    assert following["sentence"] == (
        "acme/job has no instant left: its schedule has ended, or it has fired its limit."
    )


def test_why_without_an_instant_of_a_quarantined_trigger_tells_of_now(served: Served) -> None:
    quarantined(served)
    (now,) = [each for each in served.why() if each["about"] in ("now", "next")]
    assert "the trigger is quarantined" in now["sentence"]


@pytest.mark.parametrize(
    ("instant", "sentence"),
    [
        ("00:01", f"{JOB} 00:01:00Z fired: sent 5 ms after its due time, {TOOK_IT}."),
        (
            "00:03",
            "acme/job was not due at Mon 2026-03-02 00:03:00Z: it was deleted by root at 00:01:30Z "
            "(moved).",
        ),
        (
            "09:00",
            "acme/job will not be due at Mon 2026-03-02 09:00:00Z: it was deleted by root at "
            "00:01:30Z (moved).",
        ),
    ],
)
def test_why_of_a_deleted_trigger_by_its_id(served: Served, instant: str, sentence: str) -> None:
    on_time(served)
    trigger_id = served.api.json("GET", served.path())["trigger_id"]
    served.api.json("DELETE", served.path(), note="moved")
    served.put(schedule="0 6 * * *")  # the name is another's now
    served.to("00:05:00")
    (answer,) = served.why(instant, trigger_id)
    assert answer["sentence"] == sentence
    assert [each["about"] for each in served.why(None, trigger_id)] == ["newest", "now"]


def test_why_of_a_local_time_that_comes_twice_tells_of_both(served: Served) -> None:
    # Europe/Berlin 2026-10-25: 03:00 -> 02:00 local, at 01:00Z
    served.put(schedule="30 2 * * *", zone="Europe/Berlin")
    first, second = served.why("2026-10-25T02:30")
    assert [first["about"], second["about"]] == ["first_pass", "second_pass"]
    assert [first["instant"], second["instant"]] == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    assert [first["answer"], second["answer"]] == ["undecided", "not_due"]


def test_why_of_a_local_time_that_the_clock_skips_tells_of_the_instant_after_it(
    served: Served,
) -> None:
    # Europe/Berlin 2026-03-29: 02:00 -> 03:00 local, at 01:00Z
    served.put(schedule="30 2 * * *", zone="Europe/Berlin")
    (answer,) = served.why("2026-03-29T02:30")
    assert (answer["about"], answer["instant_local"]) == (
        "after_gap",
        "2026-03-29 03:00:00 +02:00",
    )


@pytest.mark.parametrize("instant", ["2026-03-02T01:01:00+01:00", "2026-03-02T00:01:00+00:00"])
def test_why_takes_an_offset_whose_plus_was_not_escaped(served: Served, instant: str) -> None:
    on_time(served)
    (answer,) = served.api.json("GET", f"{served.path()}/why?instant={instant}")["answers"]
    assert (answer["about"], answer["instant"]) == ("asked", "2026-03-02T00:01:00Z")


@pytest.mark.parametrize(
    "instant", ["noon", "", "2026-03-02", "2026-02-30T00:00:00Z", "1066-10-14T09:00:00Z", "9" * 65]
)
def test_why_refuses_what_is_no_instant(served: Served, instant: str) -> None:
    served.put()
    answer = served.api.call("GET", f"{served.path()}/why", instant=instant)
    assert problem(answer) == (422, ["instant"])


def test_why_costs_the_same_however_much_others_were_audited(served: Served) -> None:
    paused(served)
    served.put("other")
    for number in range(50):
        act = "pause" if number % 2 else "resume"
        served.api.json("POST", f"{served.path('other')}:{act}", {})
    (answer,) = served.why("00:05")
    assert "paused by root at 00:02:30Z (price change)" in answer["sentence"]
