"""`punctual import crontab`: a crontab as a manifest, and every line that cannot be one."""

import os
import sys
from pathlib import Path
from typing import Final

import click

from punctual.commands.common import Refusal
from punctual.commands.completing import complete_zone
from punctual.progress import waiting
from punctual.saying import hint
from scheduling.limits import MANIFEST_BYTES_MAX

_STDIN: Final = "-"


@click.group(name="import")
def import_() -> None:
    """Convert other schedules to a manifest."""


@import_.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--target",
    "--target-url",
    "target_url",
    required=True,
    metavar="URL",
    help="Where the fires of all entries go; each carries its command as the payload.",
)
@click.option("--tenant", default="cron", show_default=True, help="The tenant of the triggers.")
@click.option(
    "--zone",
    metavar="ZONE",
    shell_complete=complete_zone,
    help="Of entries without CRON_TZ, such as Europe/Berlin.",
)
@click.option(
    "--system/--user",
    "is_system",
    default=None,
    help="Whether there is a user column, as in /etc/crontab  [default: find out]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the manifest to this new file instead of stdout.",
)
def crontab(
    file: Path,
    target_url: str,
    tenant: str,
    zone: str | None,
    is_system: bool | None,
    output: Path | None,
) -> None:
    """Convert a crontab (FILE, or - for stdin) to a manifest.

    What cannot mean the same here is refused with its line on stderr; the other lines are
    converted all the same, and the exit code is 1. No command is ever run here.
    """
    from control_api.manifests.text import to_yaml
    from punctual.crontabs.crontab import CrontabError, import_crontab
    from schemas.endpoints import check_endpoint

    problems = check_endpoint(target_url, True)
    if problems:
        raise Refusal(f"--target: {'; '.join(problems)}")
    if output is not None and output.exists():
        raise Refusal(f"--output: {output} exists: name a new file, or remove it first")
    name = "stdin" if str(file) == _STDIN else str(file)
    try:
        with waiting("Converting"):
            done = import_crontab(
                _text_of(file),
                system=is_system,
                tenant=tenant,
                target_url=target_url,
                zone=zone,
                name=name,
            )
    except CrontabError as error:
        raise Refusal(str(error)) from None
    count = len(done.manifest.tenants[tenant].triggers)
    remarks = [
        *(note.text(name) for note in done.notes),
        *(refusal.text(name) for refusal in done.refusals),
    ]
    for remark in remarks:
        hint(remark)
    if count:
        with waiting("Writing"):
            text = to_yaml(done.manifest)
        _write(text, output)
        hint(_next_step(count, output))
    if done.refusals or not count:
        left = f"{len(done.refusals)} of {count + len(done.refusals)} entries were refused"
        raise Refusal(left if done.refusals else f"{name}: holds no entry")


def _text_of(file: Path) -> str:
    """The file's text; bytes that are no UTF-8 stay marked, so that their lines are refused."""
    try:
        if str(file) == _STDIN:
            content = sys.stdin.buffer.read(MANIFEST_BYTES_MAX + 1)
        else:
            with file.open("rb") as opened_file:
                content = opened_file.read(MANIFEST_BYTES_MAX + 1)
    except OSError as error:
        raise Refusal(f"{file}: cannot be read: {error.strerror}") from None
    return content.decode(errors="surrogateescape")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        # Commands hold passwords often enough, so the file is for its owner alone.
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Refusal(f"--output: {output} cannot be written: {error.strerror}") from None


def _next_step(count: int, output: Path | None) -> str:
    entries = "1 entry" if count == 1 else f"{count} entries"
    if output is None:
        return f"Converted {entries}. Keep it with -o FILE, then: punctual apply -f FILE"
    return f"Converted {entries} to {output}. Next: punctual apply -f {output}"
