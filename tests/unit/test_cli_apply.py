"""`punctual apply`: the plan as it is shown, what is asked, and how problems are told."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from punctual.manifest_files import read_manifest_file
from tests.support.command_line import CommandLine, command_line, table
from tests.support.definitions import SECRET, a_trigger

HOOK = "http://127.0.0.1:8089/hook"
TEXT = f"""\
tenants:
  acme:
    targets:
      hook: {{url: "{HOOK}"}}
    defaults: {{zone: Europe/Berlin, target: hook}}
    triggers:
      nightly: {{schedule: "0 2 * * *", payload: {{a: 1}}}}
"""
EMPTY = "tenants: {acme: {}}\n"


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """One tenant with one target, and nothing running."""
    found = command_line(tmp_path)
    yield found
    found.service.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "acme.yaml"
    path.write_text(TEXT)
    return path


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("asking", "apply"):
        monkeypatch.setattr(f"punctual.commands.{module}.stands_at_terminal", lambda: True)


def names(punctual: CommandLine) -> list[str]:
    return [each.name for each in punctual.service.store.registry.triggers(limit=10)]


def test_apply_shows_each_field_and_the_next_three_and_says_what_it_did(
    punctual: CommandLine, file: Path
) -> None:
    result = punctual("apply", "-f", str(file))
    assert result.exit_code == 0, result.stderr
    *plan, summary = result.stdout.splitlines()
    assert table("\n".join(plan)) == [
        ["change", "subject", "field", "before", "after"],
        ["created", "target acme/hook", "url", HOOK],
        ["created", "trigger acme/nightly", "schedule", "0 2 * * *"],
        ["zone", "Europe/Berlin"],
        ["target", "hook"],
        ["payload", "given"],
        ["next", "Tue 2026-06-02 02:00:00 +02:00"],
        ["Wed 2026-06-03 02:00:00 +02:00"],
        ["Thu 2026-06-04 02:00:00 +02:00"],
    ]
    assert summary == "Applied: 2 created, 1 unchanged."
    assert names(punctual) == ["nightly"]


def test_apply_of_an_edit_shows_before_and_after(punctual: CommandLine, file: Path) -> None:
    punctual("apply", "-f", str(file))
    file.write_text(TEXT.replace("0 2 *", "0 3 *"))
    result = punctual("apply", "-f", str(file))
    assert table(result.stdout)[1:3] == [
        ["edited", "trigger acme/nightly", "schedule", "0 2 * * *", "0 3 * * *"],
        ["next", "Tue 2026-06-02 02:00:00 +02:00", "Tue 2026-06-02 03:00:00 +02:00"],
    ]


def test_apply_a_second_time_says_that_nothing_changes(punctual: CommandLine, file: Path) -> None:
    punctual("apply", "-f", str(file))
    result = punctual("apply", "-f", str(file))
    assert (result.exit_code, result.stdout) == (
        0,
        "Everything is as the manifests say: 3 unchanged.\n",
    )


def test_dry_run_changes_nothing_and_says_so(punctual: CommandLine, file: Path) -> None:
    result = punctual("apply", "-f", str(file), "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.endswith("Not applied, a dry run: 2 created, 1 unchanged.\n")
    assert names(punctual) == []


def test_apply_reads_stdin_and_resolves_secrets_here(
    punctual: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    text = TEXT.replace(f'"{HOOK}"', f'"{HOOK}", secret_env: HOOK_SECRET')
    result = punctual("apply", "-f", "-", stdin=text)
    assert result.exit_code == 0, result.stderr
    assert "whsec_" not in result.output
    assert punctual.service.store.registry.target_secret("acme", "hook") == SECRET


def test_apply_of_several_files_is_one_plan(punctual: CommandLine, file: Path) -> None:
    other = file.with_name("other.yaml")
    other.write_text(TEXT.replace("nightly", "weekly"))
    result = punctual("apply", "-f", str(file), "-f", str(other))
    assert result.stdout.endswith("Applied: 3 created, 1 unchanged.\n")
    assert names(punctual) == ["nightly", "weekly"]


def test_apply_as_json_is_the_api_s_answer(punctual: CommandLine, file: Path) -> None:
    plan = punctual.json("apply", "-f", str(file), "--dry-run")
    assert (plan["dry_run"], len(plan["entries"])) == (True, 3)
    done = punctual.json("apply", "-f", str(file))
    assert done == plan | {"dry_run": False}


def test_only_leaves_the_rest_of_the_file_out(punctual: CommandLine, file: Path) -> None:
    file.write_text(f'{TEXT}      weekly: {{schedule: "0 3 * * 1"}}\n')
    result = punctual("apply", "-f", str(file), "--only", "acme/week*")
    assert result.exit_code == 0, result.stderr
    assert names(punctual) == ["weekly"]


# -- problems ---------------------------------------------------------------------------------


def test_problems_are_told_at_line_and_column_and_nothing_is_applied(
    punctual: CommandLine, file: Path
) -> None:
    wrong = TEXT.replace("0 2 * * *", "0 25 * * *").replace("Berlin", "Berln")
    file.write_text(wrong.replace(f'"{HOOK}"', f'"{HOOK}", secret_env: NOT_SET'))
    result = punctual("apply", "-f", str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    secret, zone, end = lines
    assert secret == (
        f"{file}:4:49: tenants.acme.targets.hook.secret_env: the variable NOT_SET is not set"
    )
    assert zone.startswith(f"{file}:5:16: tenants.acme.defaults.zone: 'Europe/Berln': ")
    assert end == "punctual: nothing was applied"
    assert names(punctual) == []


def test_problem_that_only_the_store_knows_is_told_at_its_line(
    punctual: CommandLine, file: Path
) -> None:
    file.write_text(TEXT.replace("    targets:", "    quota_triggers: 1\n    targets:"))
    punctual("apply", "-f", str(file))
    file.write_text(f'{TEXT}      weekly: {{schedule: "0 3 * * 1"}}\n')
    result = punctual("apply", "-f", str(file))
    first, end = result.stderr.splitlines()
    assert first.startswith(f"{file}:8:7: tenants.acme.triggers.weekly: quota_triggers: ")
    assert (result.exit_code, end) == (1, "punctual: nothing was applied")


def test_file_that_is_no_yaml_is_told_without_asking_the_api(
    punctual: CommandLine, file: Path
) -> None:
    file.write_text("tenants: {acme: {}")
    result = punctual("apply", "-f", str(file))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{file}:2:1: not YAML: ")


def test_unproven_host_says_what_to_serve_where(punctual: CommandLine, file: Path) -> None:
    file.write_text(TEXT.replace(HOOK, "https://hook.invalid/in"))
    result = punctual("apply", "-f", str(file))
    assert result.exit_code == 1
    first, *_ = result.stderr.splitlines()
    assert first.startswith(f"{file}:4:14: tenants.acme.targets.hook.url: nothing proves yet")
    assert "https://hook.invalid/.well-known/punctual-ownership" in first
    allowed = punctual("apply", "-f", str(file), "--allow-targets")
    assert allowed.exit_code == 0, allowed.stderr
    assert ["created", "target acme/hook", "url", "https://hook.invalid/in"] in table(
        allowed.stdout
    )


def test_selector_that_selects_nothing_is_refused_by_its_option(
    punctual: CommandLine, file: Path
) -> None:
    result = punctual("apply", "-f", str(file), "--only", "acme/x*")
    assert (result.exit_code, result.stderr) == (
        1,
        "punctual: --only: 'acme/x*': the manifests have nothing like it\n",
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("apply",), "Missing option '-f'", id="no_file"),
        pytest.param(("apply", "-f", "gone.yaml"), "'gone.yaml' does not exist", id="gone"),
        pytest.param(("apply", "-f", "-", "-f", "-"), "-f: - stands there twice", id="stdin_twice"),
    ],
)
def test_wrong_command_line_is_exit_code_2(
    punctual: CommandLine, arguments: tuple[str, ...], expected: str
) -> None:
    result = punctual(*arguments)
    assert result.exit_code == 2
    assert expected in result.stderr


# -- asking -----------------------------------------------------------------------------------


def test_prune_without_a_terminal_needs_yes(punctual: CommandLine, file: Path) -> None:
    punctual.service.apply(a_trigger("old"))
    result = punctual("apply", "-f", str(file), "--prune")
    assert (result.exit_code, names(punctual)) == (2, ["old"])
    assert "add --yes" in result.stderr
    assert punctual("apply", "-f", str(file), "--prune", "--dry-run").exit_code == 0
    done = punctual("apply", "-f", str(file), "--prune", "--yes")
    assert done.stdout.endswith("Applied: 2 created, 2 deleted, 1 unchanged.\n")
    assert names(punctual) == ["nightly"]


@pytest.mark.parametrize(
    ("answer", "exit_code", "left"),
    [("y\n", 0, ["nightly"]), ("n\n", 1, ["old"]), ("", 1, ["old"])],
)
def test_prune_on_a_terminal_asks_after_the_plan(
    punctual: CommandLine,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    exit_code: int,
    left: list[str],
) -> None:
    punctual.service.apply(a_trigger("old"))
    at_terminal(monkeypatch)
    result = punctual("apply", "-f", str(file), "--prune", stdin=answer)
    assert (result.exit_code, names(punctual)) == (exit_code, left)
    assert "This deletes 1 trigger, 1 target. Go on? [y/N]" in result.stderr
    assert "deleted  trigger acme/old" in result.stdout


def test_stopping_waiting_fires_on_a_terminal_is_asked_about(
    punctual: CommandLine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXT.replace("0 2 * * *", "* * * * *").replace("payload: {a: 1}", "missed: fire_all")
    file.write_text(text)
    punctual("apply", "-f", str(file))
    punctual.service.advance_to("2026-06-01T09:03:30Z")
    file.write_text(text.replace("missed: fire_all", "missed: fire_all, paused: true"))
    at_terminal(monkeypatch)
    result = punctual("apply", "-f", str(file), stdin="n\n")
    assert result.exit_code == 1
    assert "This stops 3 waiting fires. Go on? [y/N]" in result.stderr
    assert ["fires", "3 waiting fires", "stopped"] in table(result.stdout)


def test_creations_on_a_terminal_are_not_asked_about(
    punctual: CommandLine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_terminal(monkeypatch)
    result = punctual("apply", "-f", str(file))
    assert (result.exit_code, result.stderr) == (0, "")


def test_apply_after_somebody_else_changed_something_is_refused(
    punctual: CommandLine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    punctual.service.apply(a_trigger("old"))
    at_terminal(monkeypatch)

    def meanwhile(question: str, *, yes: bool) -> bool:
        punctual.service.apply(a_trigger("newcomer"))
        return True

    monkeypatch.setattr("punctual.commands.apply.confirmed", meanwhile)
    result = punctual("apply", "-f", str(file), "--prune")
    assert (result.exit_code, names(punctual)) == (1, ["newcomer", "old"])
    assert result.stderr == (
        "punctual: plan: somebody changed something since the plan was made; nothing was "
        "applied: apply again, and look at the new plan\n"
    )


def test_plan_does_not_steer_the_terminal(punctual: CommandLine, file: Path) -> None:
    file.write_text(TEXT.replace("nightly:", '"x\\e[31m":'))
    result = punctual("apply", "-f", str(file))
    assert result.exit_code == 1
    assert "\x1b" not in result.output


def test_problem_is_placed_at_the_deepest_part_that_the_file_has() -> None:
    text = (
        "tenants:\n  a:\n    triggers:\n"
        "      x.y: {retry: {attempts: 1}}\n"
        "      x: {list: [1, {b: 2}]}\n"
    )
    file = read_manifest_file(text.encode(), name="m", folder=None)
    places = {
        "tenants.a.triggers.x.y.retry.attempts": (4, 21),
        "tenants.a.triggers.x.y.zone": (4, 7),
        "tenants.a.triggers.x.list.1.b": (5, 22),
        "tenants.a.triggers.z": (3, 5),
        "elsewhere": (1, 1),
    }
    found = {path: file.problem_at(path, "x")[:2] for path in places}
    assert found == places


def test_plan_as_json_has_no_payload_and_no_secret(punctual: CommandLine, file: Path) -> None:
    file.write_text(TEXT.replace("a: 1", "canary: hunter2"))
    result = punctual("apply", "-f", str(file), "--json")
    assert result.exit_code == 0
    assert "hunter2" not in result.output
    assert json.loads(result.stdout)["dry_run"] is False
