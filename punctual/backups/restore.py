"""A restore: an archive is believed member by member, opened as a store, then put in place.

Until the last step everything happens in a folder beside, so a refusal changes nothing.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from adapters.file_sync import sync_folder
from adapters.sqlite_backup import check_sqlite_copy
from adapters.sqlite_inspection import inspected, is_open_elsewhere
from ports.changes import PauseTrigger
from ports.errors import PortError, StoreRefused
from ports.records import AuditRecord
from ports.store import Store
from punctual.backups.archive import Archive, opened_archive
from punctual.backups.contents import Contents
from punctual.backups.swap import mark_unfinished, occupied_by, restrict_modes, swap_in, unmark
from punctual.data_folder import STORE_FILE, UNFINISHED_FILE, open_data_folder
from scheduling.instants import SECOND_US, from_us
from scheduling.vocabulary import TriggerState

_PAGE_ROWS: Final = 1_000
_EXTRACTED: Final = 0.7
_ROOM_BYTES: Final = 16 * 1024 * 1024  # for the store's log while it is opened


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions:
    """What a person chose. `pause_note` pauses every live trigger as of the backup's time."""

    file: Path
    data: Path
    force: bool = False
    pause_note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """aside:   where the old files are, if there were any
    owners:  who decided on the store when it was copied, by its leases
    """

    contents: Contents
    aside: Path | None
    paused: int
    owners: tuple[str, ...]


def restore(
    options: RestoreOptions,
    *,
    clock_us: Callable[[], int],
    actor: str,
    advance: Callable[[float], None],
) -> Restored:
    """Put a backup in place as the data folder, or leave everything as it was.

    StoreRefused and StoreCorrupt say what is wrong; OSError is the disk's.
    """
    with opened_archive(options.file) as archive:
        made = _make_folder(options)
        try:
            return _restore(archive, options, clock_us=clock_us, actor=actor, advance=advance)
        except BaseException:
            if made and not any(options.data.iterdir()):
                options.data.rmdir()
            raise


def _restore(
    archive: Archive,
    options: RestoreOptions,
    *,
    clock_us: Callable[[], int],
    actor: str,
    advance: Callable[[float], None],
) -> Restored:
    data, contents = options.data, archive.contents
    _refuse_served(data, clock_us())
    _refuse_without_room(data, contents.total_bytes)
    with tempfile.TemporaryDirectory(prefix=".restore.", dir=data) as name:
        staged = Path(name)
        done = 0

        def tell(count: int) -> None:
            nonlocal done
            done += count
            advance(_EXTRACTED * done / contents.total_bytes)

        archive.extract_to(staged, on_bytes=tell)
        check_sqlite_copy(staged / STORE_FILE)
        prepared = _prepare(staged, contents, options, now_us=clock_us(), actor=actor)
        restrict_modes(staged)
        _sync_tree(staged)
        aside = _swap(staged, data, clock_us=clock_us)
        advance(1.0)
    return Restored(contents=contents, aside=aside, paused=prepared.paused, owners=prepared.owners)


def _make_folder(options: RestoreOptions) -> bool:
    """Whether it had to be made. Refuses a folder that holds what a restore would replace."""
    data = options.data
    held = occupied_by(data)
    if held and not options.force:
        raise StoreRefused(
            f"data: {data} holds {', '.join(held)}: name another folder, or have them put aside "
            "with --force"
        )
    if data.is_dir():
        return False
    data.mkdir(mode=0o700, parents=True)
    return True


def _refuse_served(data: Path, now_us: int) -> None:
    """Whoever decides has leases; an API or a command has the store open.

    A store too damaged to be read is taken for one that nobody serves.
    """
    if not (data / STORE_FILE).exists():
        return
    try:
        with inspected(data / STORE_FILE) as look:
            owners = [owner for owner in look.owners() if owner.is_alive(now_us)]
        is_open = is_open_elsewhere(data / STORE_FILE)
    except PortError:
        return
    if owners:
        left_s = max(owner.expires_us - now_us for owner in owners) / SECOND_US
        names = ", ".join(owner.owner_id for owner in owners)
        raise StoreRefused(
            f"data: {data} is being served by {names}: end it first; if it died, try again in "
            f"{left_s + 1:.0f} s"
        )
    if is_open:
        raise StoreRefused(f"data: another process has the store in {data} open: end it first")


def _refuse_without_room(data: Path, needed: int) -> None:
    free = shutil.disk_usage(data).free
    if free < needed + _ROOM_BYTES:
        raise StoreRefused(
            f"data: the backup holds {needed:,} bytes and {data} has room for {free:,}: make room"
        )


class _Prepared(NamedTuple):
    paused: int
    owners: tuple[str, ...]


def _prepare(
    staged: Path, contents: Contents, options: RestoreOptions, *, now_us: int, actor: str
) -> _Prepared:
    """Open it as the service will, which brings an older schema up to date."""
    folder = open_data_folder(staged, create=False)
    try:
        paused = 0
        if options.pause_note is not None:
            paused = _pause_all(
                folder.store, contents.taken_us, note=options.pause_note, actor=actor
            )
        owners = _end_leases(folder.store, contents.taken_us, now_us=now_us, actor=actor)
        note = f"taken at {contents.taken_at}, {paused} triggers paused"
        entry = AuditRecord(now_us, actor, "backup_restored", None, "store", note=note)
        folder.store.audit.append(entry)
    finally:
        folder.close()
    return _Prepared(paused, owners)


def _end_leases(store: Store, taken_us: int, *, now_us: int, actor: str) -> tuple[str, ...]:
    """Who decided when the copy was made. In it their leases guard nothing: they renew them in
    their own store, if they live, and whoever starts on this one would wait for nobody."""
    held = {lease.owner_id: lease.expires_us for lease in store.leases.leases() if lease.owner_id}
    for owner_id in held:
        store.leases.release(owner_id, now_us=now_us, actor=actor)
    return tuple(sorted(owner_id for owner_id, until_us in held.items() if until_us > taken_us))


def _pause_all(store: Store, at_us: int, *, note: str, actor: str) -> int:
    """Dated at the backup: what was due since then lies in the pause, for its resume to judge."""
    paused, after = 0, None
    while True:
        page = store.registry.triggers(after=after, limit=_PAGE_ROWS)
        live = [trigger for trigger in page if trigger.state is TriggerState.LIVE]
        changes = [PauseTrigger(tenant_id=t.tenant_id, name=t.name, note=note) for t in live]
        store.registry.apply(changes, now_us=at_us, actor=actor)
        paused += len(changes)
        if len(page) < _PAGE_ROWS:
            return paused
        after = (page[-1].tenant_id, page[-1].name)


def _swap(staged: Path, data: Path, *, clock_us: Callable[[], int]) -> Path | None:
    """Behind the mark, and looked at once more: a service may have started meanwhile."""
    was_unfinished = (data / UNFINISHED_FILE).exists()
    mark_unfinished(data)
    try:
        _refuse_served(data, clock_us())
        data.chmod(0o700)
        aside = _name_aside(data, clock_us()) if occupied_by(data) else None
        swap_in(staged, data, aside=aside)
    except BaseException:
        if not was_unfinished:
            unmark(data)
        raise
    unmark(data)
    return aside


def _name_aside(data: Path, now_us: int) -> Path:
    stamp = f"{from_us(now_us):%Y%m%dT%H%M%SZ}"
    first = data / f"replaced-{stamp}"
    names = (first, *(first.with_name(f"{first.name}-{n}") for n in range(2, 100)))
    return next(path for path in names if not os.path.lexists(path))


def _sync_tree(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
