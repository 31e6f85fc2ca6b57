"""What an apply may hold: more is refused on its count, before anything is made of it."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.sqlite_versions import Versions
from control_api.manifests import manifest as reader
from scheduling.limits import (
    APPLY_BODY_BYTES_MAX,
    APPLY_CALENDARS_MAX,
    APPLY_CHANGES_MAX,
    APPLY_SUBJECTS_MAX,
    APPLY_VALUES_MAX,
    BODY_VALUES_MAX,
    PROBLEMS_TOLD_MAX,
)
from tests.support.api import HOOK, TENANT, Api, problem

DAILY: Final = {"schedule": "@daily", "zone": "UTC", "target": "hook"}
RARE: Final = "DTSTART:20260101 RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(tmp_path)
    yield made
    made.close()


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making a record of anything fails the test."""

    def fail(*args: object, **named: object) -> None:
        raise AssertionError("a record was made")

    monkeypatch.setattr(reader, "validated", fail)


def tenant(**members: Any) -> dict[str, Any]:
    return {"targets": {"hook": {"url": HOOK}}, **members}


def triggers(count: int, *, like: dict[str, Any] = DAILY, name: str = "t{}") -> dict[str, Any]:
    return {name.format(number): like for number in range(count)}


def answer(api: Api, *tenants: dict[str, Any], **options: Any) -> Any:
    manifests = [
        {"name": f"file-{number}", "tenants": {TENANT: each}} for number, each in enumerate(tenants)
    ]
    return api.call("POST", "/v1/apply", {"manifests": manifests, "dry_run": True, **options})


def details(refused: Any) -> list[str]:
    return [each["detail"] for each in refused.json()["errors"]]


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("tenants", "options", "told"),
    [
        pytest.param(
            [tenant(triggers=triggers(APPLY_CHANGES_MAX))],
            {},
            f"they make {APPLY_CHANGES_MAX + 2:,} changes, and one transaction takes at most",
            id="changes",
        ),
        pytest.param(
            [tenant(triggers=triggers(APPLY_CHANGES_MAX + 1)), tenant(triggers=triggers(9))],
            {"only": [f"{TENANT}/t*"]},
            f"they make {APPLY_CHANGES_MAX + 10:,} changes",
            id="changes of what is selected",
        ),
        pytest.param(
            [tenant(triggers=triggers(APPLY_SUBJECTS_MAX))],
            {"only": [f"{TENANT}/t1"]},
            f"they name {APPLY_SUBJECTS_MAX + 2:,} tenants, calendars, targets and triggers; at "
            f"most {APPLY_SUBJECTS_MAX:,}",
            id="subjects",
        ),
        pytest.param(
            [
                tenant(
                    defaults={"exclude": ["2026-01-01"] * 10_000},
                    triggers=triggers(50, like={"schedule": "@daily"}),
                )
            ],
            {},
            f"at most {APPLY_VALUES_MAX:,}: exclude dates by calendars",
            id="values of the defaults",
        ),
        pytest.param(
            [tenant(calendars={f"c{number}": {} for number in range(APPLY_CALENDARS_MAX + 1)})],
            {},
            f"they have {APPLY_CALENDARS_MAX + 1} calendars; at most {APPLY_CALENDARS_MAX}",
            id="calendars",
        ),
        pytest.param(
            [tenant(calendars={f"c{number}": {"rules": [RARE] * 3} for number in range(20)})],
            {},
            "they have calendar rules that take 8,213 ms to expand; at most 4,000",
            id="rare dates",
        ),
    ],
)
def test_more_than_one_request_may_hold_is_refused_unread(
    api: Api, tenants: list[dict[str, Any]], options: dict[str, Any], told: str
) -> None:
    refused = answer(api, *tenants, **options)
    assert problem(refused) == (422, ["manifests"])
    assert told in details(refused)[0]


@pytest.mark.parametrize("part", ["null", "{}", '"a"', '"a":1', "[]", "1"])
def test_body_of_many_small_values_is_refused_unread(api: Api, part: str) -> None:
    """The edge lets 16 MB of them through, and each would take a hundred bytes or more."""
    count = APPLY_BODY_BYTES_MAX // (len(part) + 1) - 100
    opened, closed = ("{", "}") if ":" in part else ("[", "]")
    body = f'{{"manifests": {opened}{",".join([part] * count)}{closed}}}'
    headers = {"Authorization": f"Bearer {api.tokens['root']}", "Content-Type": "application/json"}
    refused = api.client.post("/v1/apply", content=body.encode(), headers=headers)
    assert refused.status_code == 422
    assert refused.json()["detail"] == (
        f"the body: at most {BODY_VALUES_MAX:,} values: send it in parts"
    )


def test_payloads_of_escaped_quotes_are_no_many_values(api: Api) -> None:
    like = DAILY | {"payload": '"\\' * 10_000}
    assert answer(api, tenant(triggers=triggers(50, like=like))).status_code == 200


def test_first_of_many_problems_are_told_and_the_rest_is_counted(api: Api) -> None:
    refused = answer(api, tenant(triggers=triggers(500, like=DAILY | {"zone": "Mars/Olympus"})))
    status, fields = problem(refused)
    assert (status, len(fields)) == (422, PROBLEMS_TOLD_MAX + 1)
    assert fields[:2] == [f"tenants.{TENANT}.triggers.t{number}.zone" for number in range(2)]
    assert refused.json()["errors"][-1] == {"field": "errors", "detail": "and 400 more problems"}
    assert refused.json()["detail"].endswith("; and 497 more problems")


def test_problems_of_several_manifests_are_cut_together(api: Api) -> None:
    wrong = tenant(triggers=triggers(300, like={}))
    refused = answer(api, wrong, wrong)
    assert len(problem(refused)[1]) == PROBLEMS_TOLD_MAX + 1
    # Three keys are missing from each of them.
    assert details(refused)[-1] == f"and {2 * 3 * 300 - PROBLEMS_TOLD_MAX:,} more problems"


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        pytest.param({"triggers": {"one": DAILY | triggers(9_000)}}, "triggers.one", id="trigger"),
        pytest.param(
            {"triggers": {"one": DAILY | {"retry": triggers(9_000)}}},
            "triggers.one.retry",
            id="retry",
        ),
        pytest.param({"defaults": triggers(9_000)}, "defaults", id="defaults"),
        pytest.param(triggers(9_000), "", id="tenant"),
    ],
)
def test_first_of_many_unknown_keys_are_told_and_the_rest_is_counted(
    api: Api, keys: dict[str, Any], where: str
) -> None:
    renamed = json.loads(json.dumps(keys).replace('"t', '"un').replace('"unriggers', '"triggers'))
    renamed = json.loads(json.dumps(renamed).replace('"unarget', '"target'))
    refused = answer(api, tenant(**renamed))
    fields = problem(refused)[1]
    place = f"tenants.{TENANT}" + (f".{where}" if where else "")
    assert set(fields[:-1]) == {f"{place}.?"}
    assert details(refused)[-1].endswith("more problems")


def test_unknown_keys_of_any_body_are_told_up_to_a_bound(api: Api) -> None:
    body = {f"un{number}": 1 for number in range(9_000)}
    refused = api.call("PUT", f"/v1/tenants/{TENANT}/triggers/job", body)
    assert len(problem(refused)[1]) == PROBLEMS_TOLD_MAX + 1
    assert details(refused)[-1] == f"and {9_000 + 3 - PROBLEMS_TOLD_MAX:,} more problems"


def test_name_without_end_is_told_once(api: Api) -> None:
    refused = answer(api, tenant(triggers={"n" * 100_000: {}}))
    (field,) = problem(refused)[1]
    assert len(field) < 500
    assert details(refused) == ["a name has at most 128 characters"]


class ReadVersions:
    """Which versions came from the database, and how often; it can forget what is in memory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keys: list[tuple[str, str, int]] = []
        self._memories: list[Any] = []
        read = Versions._read

        def counted(versions: Versions, connection: Any, key: tuple[str, str, int]) -> Any:
            self.keys.append(key)
            self._memories.append(versions._facts)
            return read(versions, connection, key)

        monkeypatch.setattr(Versions, "_read", counted)

    def forget(self) -> None:
        for memory in self._memories:
            memory._items.clear()
        self.keys.clear()


@pytest.mark.parametrize(
    ("is_whole", "options", "count"),
    [
        pytest.param(True, {}, 200, id="all of them"),
        pytest.param(False, {}, 1, id="one"),
        pytest.param(True, {"only": [f"{TENANT}/t7"]}, 1, id="one selected"),
        pytest.param(False, {"only": [f"{TENANT}/t7"], "prune": True}, 1, id="one beside the rest"),
    ],
)
def test_apply_reads_each_version_that_it_names_once_and_no_other(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    is_whole: bool,
    options: dict[str, Any],
    count: int,
) -> None:
    """However many triggers the tenant has, and whether they change or not."""
    read, many = ReadVersions(monkeypatch), triggers(200)
    for wanted in (many, many):
        assert answer(api, tenant(triggers=wanted), dry_run=False).status_code == 200
    edited = {"t7": DAILY | {"missed": "skip"}}
    read.forget()
    plan = answer(api, tenant(triggers=many | edited if is_whole else edited), **options).json()
    assert [each["name"] for each in plan["entries"] if each["change"] == "edited"] == ["t7"]
    times = Counter(trigger_id for _, trigger_id, version in read.keys if version == 1)
    assert (len(times), set(times.values())) == (count, {1})


def test_schedules_that_are_not_selected_are_not_tried(api: Api) -> None:
    members = {"one": DAILY, "other": DAILY | {"schedule": "0 0 30 2 *"}}
    assert problem(answer(api, tenant(triggers=members)))[0] == 422
    assert answer(api, tenant(triggers=members), only=[f"{TENANT}/one"]).status_code == 200
