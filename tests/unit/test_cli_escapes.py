"""Every text that others may have written, full of escapes: none of them reaches a terminal."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from punctual.client import ApiClient, Found
from punctual.logs import configure_logs
from punctual.saying import json_text
from punctual.transports import Answer, NetworkTransport, NoAnswer
from tests.support.command_line import CommandLine, command_line
from tests.support.definitions import a_trigger
from tests.support.repository import ROOT

EVIL: Final = "\x1b[31m\x9b2J\u202e\nforged: all is well"
SHOWN: Final = r"\x1b[31m\x9b2J\u202e\nforged"
# What may be anybody's text in an answer. Others are words or instants, which a command reads.
FREE: Final = frozenset(
    {
        "actor", "after", "allowed_by", "assumption", "before", "cause_detail",
        "created_by", "date", "detail", "error", "excludes", "from_local", "horizon_source",
        "host", "last", "local", "mark", "new_value", "note", "outcome_cause", "pause_note",
        "principal", "prior_value", "quarantine_error", "reason", "remedy", "rules", "says",
        "scheduled_local", "sentence", "serve_at", "serve_text", "text", "title",
        "to_local", "transport_result", "tzdata_version", "url", "warning", "weekday",
        "window",
    }
)  # fmt: skip
COMMANDS: Final = [
    "triggers",
    "triggers show broken",
    "triggers show waiting",
    "fires",
    "fires acme/minutely",
    "fires show FIRE",
    "why minutely",
    "why waiting",
    "why broken",
    "upcoming",
    "upcoming waiting",
    "backlog",
    "hot-seconds --tenant acme",
    "targets",
    "tenants",
    "calendars",
    "calendars show acme/works",
    "token list",
    "grants",
    "targets allowed",
    "audit",
    "events",
    "status",
    "doctor",
    "leases",
    "tzdata show",
    "pause minutely --note again",
    "resume waiting --policy drop --note again",
    "run minutely",
    "horizon acme/minutely 30m",
    "quota acme --dispatch-per-s 7",
    "targets verify acme/shop",
    "calendars put acme/works --date 2026-12-27",
    "delete broken --yes",
]


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """Notes, causes, an error and an owner with escapes, in the store itself."""
    found = command_line(tmp_path)
    found.service.apply(a_trigger("minutely"), a_trigger("broken"), a_trigger("waiting"))
    assert found("calendars", "put", "acme/works", "--date", "2026-12-26").exit_code == 0
    found.service.start()
    found.service.advance_to("2026-06-01T09:02:30Z")
    assert found("pause", "waiting", "--note", EVIL).exit_code == 0
    found.plant(
        "UPDATE trigger SET state = 'quarantined', quarantine_error = ? WHERE name = 'broken'", EVIL
    )
    allowed = found("targets", "allow", "hook.example", "--tenant", "acme", "--note", EVIL)
    assert allowed.exit_code == 0, allowed.stderr
    assert found("relay", "--once").exit_code == 0
    found.plant("UPDATE partition_lease SET owner_id = ?", EVIL)
    yield found
    found.service.stop()


@pytest.fixture
def spoiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every free text of every answer of the API ends in escapes."""
    read, send = ApiClient.read, ApiClient.send

    def read_spoiled(client: ApiClient, path: str, **params: Any) -> Found:
        found = read(client, path, **params)
        return Found(_spoil(found.body), found.etag)

    def send_spoiled(client: ApiClient, *args: Any, **named: Any) -> Any:
        return _spoil(send(client, *args, **named))

    monkeypatch.setattr(ApiClient, "read", read_spoiled)
    monkeypatch.setattr(ApiClient, "send", send_spoiled)


def _spoil(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _spoil(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_spoil(each, key) for each in value]
    if isinstance(value, str) and key in FREE and not re.match(r"\d{4}-\d\d-\d\dT", value):
        return value + EVIL
    return value


def _is_clean(text: str) -> bool:
    lines = text.split("\n")
    return all(line.isprintable() and not line.startswith("forged") for line in lines)


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize("command", COMMANDS)
def test_answer_of_a_command_steers_no_terminal(punctual: CommandLine, command: str) -> None:
    fire = punctual.json("fires", "acme/minutely")[0]["fire_key"]
    for as_json in ([], ["--json"]):
        result = punctual(*command.replace("FIRE", fire).split(), *as_json)
        assert isinstance(result.exception, SystemExit | None), result.exception
        assert result.exit_code in (0, 1), result.stderr
        assert result.stdout + result.stderr, "the command says nothing"
        assert _is_clean(result.stdout), result.stdout
        assert _is_clean(result.stderr), result.stderr


@pytest.mark.usefixtures("spoiled")
@pytest.mark.parametrize(
    "command", ["triggers", "why waiting", "upcoming waiting", "audit", "leases", "grants"]
)
def test_escapes_are_shown_as_such(punctual: CommandLine, command: str) -> None:
    assert SHOWN in (done := punctual(*command.split())).stdout + done.stderr


def test_json_is_the_same_value_whatever_it_escapes() -> None:
    value = {"a\x9b": [EVIL, "ü", "\U000e0001", 1]}
    for indent in (None, 2):
        text = json_text(value, indent=indent)
        assert _is_clean(text)
        assert "ü" in text
        assert json.loads(text) == value


PROBLEM: Final = {
    "type": "urn:punctual:problem:invalid",
    "title": EVIL,
    "detail": f"name: {EVIL}",
    "errors": [{"field": f"tenant{EVIL}", "detail": EVIL}, {"field": "tenant", "detail": EVIL}],
}


@pytest.mark.parametrize(
    "command",
    [
        "triggers",
        "why minutely",
        "tenants put other",
        "targets put acme/new https://hook.example/",
        "apply -f FILE",
        "pause minutely",
        "status",
    ],
)
def test_refusal_of_a_server_steers_no_terminal(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "wanted.yaml"
    file.write_text("tenants: {acme: {}}")

    def refuse(
        transport: NetworkTransport,
        method: str,
        target: str,
        *,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> Answer:
        return Answer(422, {}, json.dumps(PROBLEM).encode())

    monkeypatch.setattr(NetworkTransport, "send", refuse)
    monkeypatch.setenv("PUNCTUAL_TOKEN", "pun_x")
    words = [str(file) if word == "FILE" else word for word in command.split()]
    result = punctual(*words, "--server", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert _is_clean(result.stdout)
    assert _is_clean(result.stderr), result.stderr


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{tenants: {acme: {"x\\e[31m\\nforged: y": 1}}}', id="key"),
        pytest.param(
            '{tenants: {acme: {triggers: {"\\e[2J\\nforged": {schedule: "\\e]0;x\\a"}}}}}',
            id="name",
        ),
        pytest.param('{tenants: {acme: {targets: {hook: {url: "http://\\e[31m/"}}}}}', id="url"),
        pytest.param("tenants: \x1b[31m", id="raw"),
    ],
)
def test_refusal_of_a_manifest_steers_no_terminal(
    punctual: CommandLine, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    result = punctual("apply", "-f", str(file))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) > 1
    assert _is_clean(result.stderr), result.stderr


def test_words_of_a_person_are_shown_as_they_are_refused(punctual: CommandLine) -> None:
    for words in (("why", EVIL), ("triggers", "--tenant", EVIL), (EVIL,)):
        result = punctual(*words)
        assert result.exit_code in (1, 2)
        assert _is_clean(result.stderr), result.stderr


def test_what_a_broken_server_says_is_no_line_of_ours(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = NoAnswer("broken", was_sent=False)

    def fail(*args: object, **named: object) -> Answer:
        raise lost

    monkeypatch.setattr(NetworkTransport, "send", fail)
    monkeypatch.setenv("PUNCTUAL_TOKEN", "pun_x")
    monkeypatch.setattr("punctual.client._WAIT_S", 0)
    for text in ("x\x1b[31m", "y\x9b"):
        lost.args = (text,)
        result = punctual("triggers", "--server", "http://127.0.0.1:9")
        assert _is_clean(result.stderr), result.stderr


def test_log_for_people_shows_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    import logging

    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        configure_logs(level="info", as_json=False)
        logging.getLogger("test").info("target said %s", EVIL)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    told = capsys.readouterr().err
    assert all(line.isprintable() for line in told.splitlines()), told


def test_only_the_modules_that_say_something_write_to_the_terminal() -> None:
    """All others go through `punctual/saying.py`; these write what is theirs alone."""
    own = {"saying.py", "tables.py", "streams.py", "completion.py", "reference.py", "import_.py"}
    writers = {
        path.name
        for path in (ROOT / "punctual").rglob("*.py")
        if re.search(r"\bclick\.s?echo\(|\bprint\(|std(out|err)\.write\(", path.read_text())
    }
    assert writers == own
