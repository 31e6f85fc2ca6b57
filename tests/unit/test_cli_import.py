"""`punctual import crontab`: a manifest on stdout, everything else on stderr."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from punctual.cli import cli
from tests.support.manifests import load_manifest

URL = "https://jobs.example/hook"
GOOD = "0 9 * * MON-FRI /usr/bin/report --daily\n"
MIXED = GOOD + "@reboot /usr/bin/warm-up\n"


def crontab(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(
        cli, ["import", "crontab", *arguments], input=stdin, prog_name="punctual"
    )


def test_import_writes_a_manifest_that_loads(tmp_path: Path) -> None:
    file = tmp_path / "cron.txt"
    file.write_text(GOOD)
    result = crontab(str(file), "--target", URL, "--zone", "Europe/Berlin", "--tenant", "acme")
    assert result.exit_code == 0, result.stderr
    manifest = load_manifest(result.stdout, name="x", now_us=0, allow_loopback=False)
    (trigger,) = manifest.tenants["acme"].triggers.values()
    assert (trigger.schedule, trigger.zone) == (("0 9 * * MON-FRI",), "Europe/Berlin")
    assert trigger.payload["command"] == "/usr/bin/report --daily"
    assert result.stderr == (
        "Converted 1 entry. Keep it with -o FILE, then: punctual apply -f FILE\n"
    )


def test_import_from_stdin_converts_what_it_can_and_names_what_it_cannot() -> None:
    result = crontab("-", "--target-url", URL, "--zone", "UTC", stdin=MIXED)
    assert result.exit_code == 1
    assert "report" in result.stdout
    lines = result.stderr.splitlines()
    assert lines[0].startswith("stdin:2: '@reboot /usr/bin/warm-up': @reboot names no time")
    assert lines[-1] == "punctual: 1 of 2 entries were refused"


def test_import_to_a_file_is_for_its_owner_alone_and_never_overwrites(tmp_path: Path) -> None:
    output = tmp_path / "cron.yaml"
    arguments = ("-", "--target", URL, "--zone", "UTC", "-o", str(output))
    result = crontab(*arguments, stdin=GOOD)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (f"Converted 1 entry to {output}. Next: punctual apply -f {output}\n")
    assert output.stat().st_mode & 0o777 == 0o600
    again = crontab(*arguments, stdin=GOOD)
    assert (again.exit_code, again.stderr) == (
        1,
        f"punctual: --output: {output} exists: name a new file, or remove it first\n",
    )


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        pytest.param(
            ("-", "--target", "ftp://x"), GOOD, "--target: endpoint: scheme ftp", id="target"
        ),
        pytest.param(("-", "--target", URL), GOOD, "line 1: no zone: give --zone", id="no-zone"),
        pytest.param(
            ("-", "--target", URL, "--zone", "Berlin"),
            GOOD,
            "--zone: 'Berlin': not a zone",
            id="zone",
        ),
        pytest.param(
            ("-", "--target", URL, "--zone", "UTC", "--tenant", "A B"),
            GOOD,
            "--tenant: a name is lower-case",
            id="tenant",
        ),
        pytest.param(
            ("-", "--target", URL, "--zone", "UTC"), "# none\n", "stdin: holds no entry", id="empty"
        ),
        pytest.param(
            ("/no/such/file", "--target", URL),
            "",
            "/no/such/file: cannot be read: No such file or directory",
            id="file",
        ),
    ],
)
def test_import_refuses_in_one_line(arguments: tuple[str, ...], stdin: str, message: str) -> None:
    result = crontab(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"punctual: {message}")


def test_import_of_bytes_that_are_no_text_refuses_their_line() -> None:
    lines = b"0 9 * * * echo \xff\n0 9 * * * echo fine\n"
    result = crontab("-", "--target", URL, "--zone", "UTC", stdin=lines)
    assert result.exit_code == 1
    assert "1: " in result.stderr
    assert "is not UTF-8" in result.stderr
    assert "echo fine" in result.stdout
    assert "xff" not in result.stdout
