"""`punctual backup` and `punctual restore`: a data folder as one file, and back."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from control_api.answers.zone_times import instant_json, span_text, utc_text
from punctual.commands.common import (
    Refusal,
    clock,
    data_option,
    json_option,
    opened,
)
from punctual.progress import progress_bar
from punctual.saying import hint, say, say_json, say_text
from scheduling.limits import NOTE_CHARS_MAX


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if there is one.")
@data_option
@json_option
def backup(file: Path, force: bool, data: Path, as_json: bool) -> None:
    """Write the store and its keys to one file, also while the service runs.

    FILE holds every credential of the folder: the keys that open payloads and signing secrets, the
    keys of attempt tokens, and the command line's own token. It is readable by you alone; keep it
    as you keep those. A key that was deleted to make payloads unreadable lives on in older backups.
    """
    from punctual.backups.backup import back_up

    with progress_bar("Backing up") as advance:
        done = back_up(data, file, force=force, clock_us=_wall_us, advance=advance)
    contents = done.contents
    _audit(data, f"{file.name}, {done.size} bytes", schema_version=contents.schema_version)
    if as_json:
        say_json({"file": str(file), "bytes": done.size, **contents.model_dump(exclude={"format"})})
        return
    keys = len(contents.members) - 1
    say(
        f"Backed up {data} as of {utc_text(contents.taken_us)} to {file}: {done.size:,} bytes, "
        f"the store and {keys} {'file' if keys == 1 else 'files'} of keys, read back and checked."
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--force", is_flag=True, help="Put aside what the folder holds, inside it.")
@click.option(
    "--pause",
    "pause_note",
    metavar="NOTE",
    help="Pause every live trigger as of the backup's time: nothing fires before its resume.",
)
@data_option
@json_option
def restore(file: Path, force: bool, pause_note: str | None, data: Path, as_json: bool) -> None:
    """Put a backup in place as the data folder, whole or not at all.

    What happened after the backup is unknown to it, so triggers decide that time again: whatever
    was sent in it may be sent again, under the same fire keys. With --pause you look first, and
    say for each trigger by `punctual resume --policy` what becomes of that time.
    """
    from punctual.actor import local_actor
    from punctual.backups.restore import RestoreOptions, restore

    if pause_note is not None and len(pause_note) > NOTE_CHARS_MAX:
        raise Refusal(f"--pause: has {len(pause_note)} characters; at most {NOTE_CHARS_MAX}")
    options = RestoreOptions(file=file, data=data, force=force, pause_note=pause_note)
    with progress_bar("Restoring") as advance:
        done = restore(options, clock_us=_wall_us, actor=local_actor(), advance=advance)
    facts: dict[str, Any] = {
        "data": str(data),
        "taken_at": instant_json(done.contents.taken_us),
        "age_s": (_wall_us() - done.contents.taken_us) // 1_000_000,
        "put_aside": None if done.aside is None else str(done.aside),
        "paused": done.paused,
        "schema_version": done.contents.schema_version,
        "tzdata": done.contents.tzdata,
        "owners": done.owners,
    }
    if as_json:
        say_json(facts)
        return
    age = span_text(max(_wall_us() - done.contents.taken_us, 0))
    say(f"Restored {data} as of {utc_text(done.contents.taken_us)}, {age} ago.")
    if done.aside is not None:
        say(f"What it held before is in {done.aside}; remove that once you are content.")
    say_text(_after_restore(pause_note is not None, done.paused, owners=done.owners))


def _after_restore(is_paused: bool, paused: int, *, owners: Sequence[str]) -> str:
    """What the time since the backup means, and what to do about it."""
    running = (
        f"- The backup was taken while {' and '.join(owners)} ran. If that still runs,\n"
        "  end it first, wherever it is: two installations of one backup send everything twice,\n"
        "  under the same fire keys.\n"
        if owners
        else ""
    )
    if is_paused:
        first = (
            f"{paused:,} {'trigger was' if paused == 1 else 'triggers were'} paused as of then. "
            "`punctual resume TRIGGER --policy ...`\n  says what becomes of the instants since: "
            "drop (none is sent), fire_once_now (one for all)\n  or fire_all."
        )
    else:
        first = (
            "When `punctual up` starts, every instant since then is decided by its trigger's own\n"
            "  policy for missed ones. What was sent already may be sent again, under the same\n"
            "  fire key: targets that drop repeats of `webhook-id` are safe. To look first,\n"
            '  restore again with --force --pause "NOTE".'
        )
    return (
        "Before you start it, mind what the backup does not know:\n"
        f"{running}- {first}\n"
        "- Triggers, pauses, grants and tokens are those of then: apply your manifests again, and\n"
        "  revoke again what was revoked since.\n"
        "- Payload keys that were deleted since are back: delete them again."
    )


def _wall_us() -> int:
    return clock().now().wall_us


def _audit(data: Path, note: str, *, schema_version: int) -> None:
    """A backup takes every credential along, so it is told; a store that cannot be written may be
    the very reason for it."""
    from adapters.sqlite_database import migrations
    from ports.errors import PortError
    from ports.records import AuditRecord
    from punctual.actor import local_actor

    if schema_version != len(migrations()):
        hint("Not in the audit: writing to this store would bring its schema up to date.")
        return
    with suppress(PortError), opened(data) as store:
        entry = AuditRecord(_wall_us(), local_actor(), "backup_taken", None, "store", note=note)
        store.audit.append(entry)
        return
    hint("Not in the audit: the store cannot be written.")
