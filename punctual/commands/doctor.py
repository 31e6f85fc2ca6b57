"""`punctual doctor`: is everything as it should be, and if not, what to do."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from punctual.commands.common import clock, data_option, json_option
from punctual.commands.tables import Cell, Column, print_table
from punctual.defaults import API_PORT
from punctual.progress import waiting
from punctual.saying import hint, say_json

if TYPE_CHECKING:
    from punctual.checkup.finding import Finding

_STYLES: Final = {"OK": "green", "WARN": "yellow", "FAIL": "red"}
_COLUMNS: Final = (
    Column("check"),
    Column(""),
    Column("found", flexible=24),
    Column("remedy", flexible=24),
)


@click.command()
@click.option("--host", show_default="127.0.0.1", help="Where the API is to be served.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    show_default=f"that of the folder's server, else {API_PORT}",
    help="The port of the API.",
)
@click.option(
    "--check-s",
    type=click.FloatRange(0.1, 3_600),
    default=20.0,
    show_default=True,
    help="At most so long for the look at the store's pages.",
)
@data_option
@json_option
def doctor(host: str | None, port: int | None, check_s: float, data: Path, as_json: bool) -> None:
    """Check machine, data folder and store, and say what to do.

    Nothing is changed, and the service may be running. Each check is OK, WARN or FAIL; the exit
    code is 1 when any is FAIL.
    """
    from punctual.checkup.checkup import CheckupOptions, check_up

    options = CheckupOptions(data=data, host=host, port=port, check_s=check_s)
    with waiting("Checking"):
        findings = check_up(options, now_us=clock().now().wall_us)
    failed = [finding for finding in findings if finding.level == "FAIL"]
    if as_json:
        say_json({"ok": not failed, "checks": [finding._asdict() for finding in findings]})
    else:
        print_table(_COLUMNS, [_cells(finding) for finding in findings])
        hint(_sum(findings))
    if failed:
        sys.exit(1)


def _cells(finding: "Finding") -> list[str | Cell]:
    level = finding.level.value
    return [finding.check, Cell(level, _STYLES[level]), finding.found, finding.remedy]


def _sum(findings: Sequence["Finding"]) -> str:
    levels = [finding.level.value for finding in findings]
    if "FAIL" in levels:
        return f"{levels.count('FAIL')} of {len(levels)} checks failed."
    if "WARN" in levels:
        return f"Nothing failed; look at {levels.count('WARN')} of {len(levels)} checks."
    return f"All {len(levels)} checks are fine."
