"""POST an outcome, with the token of an attempt."""

from typing import Any

import pytest

from ports.changes import RunTrigger
from ports.records import ClaimRequest, FinishRequest
from scheduling.instants import SECOND_US
from scheduling.keys import FireKey
from scheduling.retry import AttemptResult
from scheduling.vocabulary import TransportResult
from tests.support.api import TENANT, Api, problem
from tests.support.definitions import a_trigger

PATH = "/v1/outcomes"
DONE = {"outcome": "succeeded"}


class Attempt:
    """An attempt that is under way, and its token as a bearer's."""

    def __init__(self, api: Api, name: str = "digest") -> None:
        self.api = api
        api.apply(a_trigger(name))
        (run,) = api.apply(RunTrigger(tenant_id=TENANT, name=name))
        assert run.fire_key is not None
        self.key: FireKey = run.fire_key
        api.tokens[name] = self.token()
        self.name = name

    def token(self, n: int = 1, *, expires_us: int | None = None) -> str:
        return self.api.services.attempt_tokens.mint(
            self.key,
            n,
            audience="https://shop.example",
            now_us=self.api.now_us,
            expires_us=self.api.now_us + SECOND_US if expires_us is None else expires_us,
        )

    def send(self, body: Any = None, **changes: Any) -> Any:
        """The report by this attempt's token."""
        sent = DONE if body is None else body
        return self.api.call("POST", PATH, sent, **{"by": self.name, **changes})


@pytest.fixture
def attempt(api: Api) -> Attempt:
    """Claimed, and accepted by its target."""
    found = Attempt(api)
    store, now_us = api.services.store, api.now_us
    api.decide()
    assert store.ledger.claim([ClaimRequest(found.key, 1)], now_us=now_us)
    result = AttemptResult(TransportResult.RESPONSE, http_status=202)
    store.ledger.finish([FinishRequest(found.key, 1, result, now_us)])
    return found


def test_outcome_of_a_fire_is_taken_once(api: Api, attempt: Attempt) -> None:
    answer = attempt.send({"outcome": "failed", "cause": "no paper"})
    assert answer.status_code == 200, answer.text
    told = {"fire_key": str(attempt.key), "state": "failed", "is_taken": True}
    assert answer.json() == told
    assert api.json("GET", f"/v1/fires/{attempt.key}")["fire"]["state"] == "failed"
    again = attempt.send({"outcome": "failed"})
    assert (again.status_code, again.json()) == (200, told)
    other = attempt.send({"outcome": "succeeded"})
    assert (other.status_code, other.json()) == (200, {**told, "is_taken": False})


def test_cause_of_a_failure_is_shown_with_its_fire_on_one_line(api: Api, attempt: Attempt) -> None:
    longest = "no paper\r\n\x1b[2Jin tray 2 " + "x" * 476
    assert len(longest) == 500
    assert attempt.send({"outcome": "failed", "cause": longest}).is_success
    fire = api.json("GET", f"/v1/fires/{attempt.key}")["fire"]
    assert fire["outcome_cause"] == r"no paper\r\n\x1b[2Jin tray 2 " + "x" * 476
    assert fire["cause"] is None
    assert attempt.send({"outcome": "failed", "cause": "y" * 501}).status_code == 422


def test_cause_of_a_success_is_not_shown(api: Api, attempt: Attempt) -> None:
    assert attempt.send({"outcome": "succeeded", "cause": "all well"}).is_success
    assert api.json("GET", f"/v1/fires/{attempt.key}")["fire"]["outcome_cause"] is None


def test_outcome_is_taken_after_the_tokens_own_end(api: Api, attempt: Attempt) -> None:
    api.clock.advance(3_600 * SECOND_US)
    assert attempt.send().json()["is_taken"] is True


def test_outcome_beyond_its_window_is_not_taken(api: Api, attempt: Attempt) -> None:
    api.clock.advance(25 * 3_600 * SECOND_US)
    told = attempt.send().json()
    assert (told["is_taken"], told["state"]) == (False, "accepted")


def test_outcome_before_any_attempt_is_not_taken(api: Api) -> None:
    assert Attempt(api).send().json()["is_taken"] is False


def test_wrong_method_is_405(attempt: Attempt) -> None:
    answer = attempt.api.call("GET", PATH, by=attempt.name)
    assert problem(answer)[0] == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("by", [None, "root", "stranger"])
def test_no_token_of_an_attempt_is_401(api: Api, attempt: Attempt, by: str | None) -> None:
    api.tokens["stranger"] = attempt.token()[:-4] + "AAAA"
    answer = attempt.send(by=by)
    assert problem(answer) == (401, [])
    assert answer.headers["www-authenticate"] == "Bearer"


def test_token_of_an_attempt_opens_nothing_else(api: Api, attempt: Attempt) -> None:
    assert problem(api.call("GET", "/v1/tenants", by=attempt.name)) == (401, [])


def test_token_of_another_fire_is_403(api: Api, attempt: Attempt) -> None:
    other = Attempt(api, "other")
    answer = attempt.send({**DONE, "fire_key": str(other.key)})
    assert problem(answer) == (403, ["fire_key"])
    assert attempt.send({**DONE, "fire_key": str(attempt.key)}).is_success


def test_fire_that_is_not_there_is_404(api: Api) -> None:
    attempt = Attempt(api)
    attempt.key = FireKey(TENANT, attempt.key.trigger_id, attempt.key.scheduled_us, 99)
    api.tokens["ghost"] = attempt.token()
    assert problem(attempt.send(by="ghost")) == (404, ["fire_key"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "outcome"),
        ({"outcome": "done"}, "outcome"),
        ({"outcome": None}, "outcome"),
        ({**DONE, "cause": ""}, "cause"),
        ({**DONE, "cause": "x" * 501}, "cause"),
        ({**DONE, "fire_key": 7}, "fire_key"),
        ({**DONE, "result": {}}, "result"),
    ],
)
def test_bad_field_is_422(attempt: Attempt, body: Any, field: str) -> None:
    assert problem(attempt.send(body)) == (422, [field])


def test_outcome_does_not_touch_audit_or_outbox(api: Api, attempt: Attempt) -> None:
    before = (len(api.audit()), len(api.outbox()))
    attempt.send()
    assert (len(api.audit()), len(api.outbox())) == before


def test_outcome_with_a_parameter_that_nobody_reads_is_422(api: Api, attempt: Attempt) -> None:
    assert problem(attempt.send(dry_run="true")) == (422, ["dry_run"])
    assert attempt.send().json()["is_taken"] is True
