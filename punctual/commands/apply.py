"""`punctual apply`: manifests, first as a plan, then as one transaction."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from punctual.commands.asking import confirmed, stands_at_terminal
from punctual.commands.common import (
    Refusal,
    api_options,
    connected,
    json_option,
    options_named,
)
from punctual.progress import waiting
from punctual.saying import say, say_json, say_text

if TYPE_CHECKING:
    from punctual.client import ApiClient, ApiError
    from punctual.manifest_files import ManifestFile

_STDIN: Final = "-"
_PATH: Final = "/v1/apply"


@click.command()
@click.option(
    "-f",
    "--file",
    "files",
    required=True,
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
    help="A manifest, or - for stdin; several are applied as one.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and change nothing.")
@click.option(
    "--prune",
    is_flag=True,
    help="Delete triggers, and unused targets and calendars, of the files' tenants that the files "
    "do not name.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="TENANT/NAME",
    help="Touch nothing but what is named so, as in acme/nightly-*.",
)
@click.option(
    "--allow-targets",
    is_flag=True,
    help="Vouch for the hosts of new targets, as an operator, instead of a proof by each host.",
)
@click.option("--yes", is_flag=True, help="Do not ask before anything is deleted or stopped.")
@api_options
@json_option
def apply(
    files: tuple[Path, ...],
    dry_run: bool,
    prune: bool,
    only: tuple[str, ...],
    allow_targets: bool,
    yes: bool,
    data: Path,
    server: str | None,
    as_json: bool,
) -> None:
    """Apply manifests: show what they change and make them true.

    The plan names every field that changes, and the next three due times of each trigger before
    and after. Then all of it is done in one transaction, or none; a second time nothing changes.
    Whoever changes something in between makes the plan void. Problems are told as
    FILE:LINE:COLUMN: path: what is wrong and what to do.
    """
    if prune and not dry_run and not yes and not stands_at_terminal():
        raise click.UsageError("--prune: nobody can be asked here whether to delete; add --yes.")
    if list(map(str, files)).count(_STDIN) > 1:
        raise click.UsageError("-f: - stands there twice; stdin can be read once.")
    body = {"prune": prune, "only": list(only), "allow_targets": allow_targets}
    read = _read(files)
    with connected(data, server) as client, options_named({"only": "--only"}):
        plan = _plan(client, read, body)
        if not as_json:
            _show(plan)
        if not dry_run:
            _ask(plan, yes=yes)
            plan = _applied(client, read, body | {"plan": plan["plan"]})
    if as_json:
        say_json(plan)
    else:
        say(_summary(plan))


def _read(paths: Sequence[Path]) -> "list[ManifestFile]":
    from punctual.manifest_files import ManifestsRefused, read_manifest_files

    try:
        with waiting("Reading"):
            return read_manifest_files(paths, stdin=sys.stdin.buffer)
    except ManifestsRefused as refused:
        raise _refusal(str(refused).splitlines()) from None


def _plan(client: "ApiClient", files: "Sequence[ManifestFile]", body: dict[str, Any]) -> Any:
    """The API's plan. With problems of the files alone it is asked for the other ones too."""
    from punctual.client import ApiError
    from punctual.manifest_files import problem_lines

    try:
        plan = _sent(client, files, body | {"dry_run": True}, label="Planning")
    except ApiError as error:
        raise _told(error, files) from error
    if any(file.problems for file in files):
        raise _refusal(problem_lines(files, {}))
    return plan


def _applied(client: "ApiClient", files: "Sequence[ManifestFile]", body: dict[str, Any]) -> Any:
    from punctual.client import ApiError

    try:
        return _sent(client, files, body, label="Applying")
    except ApiError as error:
        if error.code == "plan_outdated":
            text = "somebody changed something since the plan was made; nothing was applied: "
            raise Refusal(f"plan: {text}apply again, and look at the new plan") from error
        raise _told(error, files) from error


def _sent(
    client: "ApiClient", files: "Sequence[ManifestFile]", body: dict[str, Any], *, label: str
) -> Any:
    manifests = [{"name": file.name, "tenants": file.tenants} for file in files]
    with waiting(label):
        return client.send("POST", _PATH, {"manifests": manifests, **body})


def _told(error: "ApiError", files: "Sequence[ManifestFile]") -> Exception:
    """Problems that are of the files, at their places; another refusal as it is."""
    from punctual.manifest_files import problem_lines

    if any(field.startswith("tenants") or ":tenants" in field for field in error.fields):
        return _refusal(problem_lines(files, error.fields))
    return error


def _refusal(lines: Sequence[str]) -> Refusal:
    for line in lines:
        say_text(line, err=True)
    return Refusal("nothing was applied")


def _ask(plan: Any, *, yes: bool) -> None:
    """Before anything is deleted, or stopped that waits already."""
    from punctual.commands.plan import losses_text

    losses = losses_text(plan["entries"])
    if losses:
        confirmed(f"This {losses}.", yes=yes)


def _show(plan: Any) -> None:
    from punctual.commands.plan import print_plan

    print_plan(plan["entries"])


def _summary(plan: Any) -> str:
    from punctual.commands.plan import summary_text

    return summary_text(plan)
