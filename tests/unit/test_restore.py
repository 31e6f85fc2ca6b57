"""`punctual restore`: over a loss, into which folders, and what it says about the time since."""

import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.sqlite_database import migrations
from ports.errors import StoreRefused
from ports.records import AuditRecord, FireRecord
from punctual.backups import restore as module
from punctual.backups import swap
from punctual.data_folder import UNFINISHED_FILE, open_data_folder
from scheduling.instants import SECOND_US, from_text
from scheduling.limits import PARTITIONS
from scheduling.vocabulary import MissedPolicy
from tests.support.backups import put_back, service_on, take_backup, tree
from tests.support.command_line import CommandLine, command_line
from tests.support.definitions import a_trigger

PAYLOAD = b'{"of": "minutely"}'


@pytest.fixture
def punctual(tmp_path: Path) -> Iterator[CommandLine]:
    """A service on its way: five fires of `minutely` and five of `each`, which makes up for all."""
    data = tmp_path / "data"
    data.mkdir()
    found = command_line(data)
    found.service.apply(
        a_trigger("minutely", payload=PAYLOAD),
        a_trigger("each", missed_policy=MissedPolicy.FIRE_ALL),
    )
    found.service.start()
    found.service.advance_to("2026-06-01T09:05:30Z")
    yield found
    found.service.close()


@pytest.fixture
def file(punctual: CommandLine, tmp_path: Path) -> Path:
    """A backup of 09:05:30, while the service runs."""
    file = tmp_path / "backup.zip"
    take_backup(punctual.data, file, at_us=punctual.service.now_us)
    return file


def lose(punctual: CommandLine, *, at: str) -> None:
    """The service goes on until then; then the whole folder is gone."""
    punctual.service.advance_to(at)
    punctual.service.close()
    shutil.rmtree(punctual.data)


def facts(rows: list[FireRecord]) -> list[tuple[object, ...]]:
    return [(row.key, row.state, row.cause, row.lane, row.committed_us) for row in rows]


def audited(service: CommandLine) -> list[AuditRecord]:
    return service.service.store.audit.entries(limit=1_000)[::-1]


def test_restore_over_a_loss_goes_on_with_everything_that_the_ledger_knew(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    known = facts(punctual.service.fires())
    acts = audited(punctual)
    sent_before = {receipt.fire.key for receipt in punctual.service.target.receipts}
    lose(punctual, at="2026-06-01T09:07:30Z")
    sent_since = {r.fire.key for r in punctual.service.target.receipts} - sent_before
    assert (len(sent_before), len(sent_since)) == (10, 4)

    now_us = from_text("2026-06-01T09:08:10Z")
    data = tmp_path / "restored"
    put_back(file, data, at_us=now_us)
    again = service_on(data, now_us)
    assert facts(again.service.fires()) == known
    assert audited(again)[: len(acts)] == acts
    assert [entry.action for entry in audited(again)[len(acts) :]] == [
        *("lease_transfer", "backup_restored")
    ]

    again.service.start("two")
    again.service.advance_to("2026-06-01T09:10:30Z")
    receipts = again.service.target.receipts
    assert [r.fire.key for r in receipts if r.fire.key in sent_before] == [], "known: not again"
    assert facts(again.service.fires())[: len(known)] == known
    assert {r.fire.payload for r in receipts if r.fire.trigger_name == "minutely"} == {PAYLOAD}
    repeated = [r.fire for r in receipts if r.fire.key in sent_since]
    minutes = {
        name: sorted(f.key.scheduled_us for f in repeated if f.trigger_name == name)
        for name in ("minutely", "each")
    }
    since = [from_text(f"2026-06-01T09:0{minute}:00Z") for minute in (6, 7)]
    assert minutes == {"minutely": [], "each": since}, "by each one's policy, under the same keys"
    again.service.close()


def test_restore_with_a_pause_sends_nothing_until_each_resume_has_judged_the_time_since(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    lose(punctual, at="2026-06-01T09:07:30Z")
    now_us = from_text("2026-06-01T09:08:10Z")
    data = tmp_path / "restored"
    assert put_back(file, data, at_us=now_us, pause_note="look first").paused == 2
    again = service_on(data, now_us)
    again.service.start("two")
    again.service.advance_to("2026-06-01T09:09:30Z")
    assert again.service.target.receipts == []
    assert {each["state"] for each in again.json("triggers")} == {"paused"}

    assert again("resume", "each", "--policy", "drop").exit_code == 0
    assert again("resume", "minutely", "--policy", "fire_all").exit_code == 0
    again.service.advance_to("2026-06-01T09:10:30Z")
    sent = [(r.fire.trigger_name, r.fire.key.scheduled_us) for r in again.service.target.receipts]
    minutes = [from_text(f"2026-06-01T09:{minute:02}:00Z") for minute in range(6, 11)]
    assert sorted(sent) == sorted(
        [("each", minutes[-1]), *(("minutely", minute) for minute in minutes)]
    )
    again.service.close()


def test_restore_makes_folder_and_files_for_their_owner_alone(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    data = tmp_path / "deep" / "restored"
    put_back(file, data, at_us=punctual.service.now_us)
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.rglob("*")}
    assert modes.pop("keys") == 0o700
    assert set(modes.values()) == {0o600}
    assert "punctual.db-wal" not in modes


@pytest.mark.parametrize("held", ["punctual.db", "keys", "token", "punctual.db-wal"])
def test_restore_into_a_folder_that_holds_something_needs_force_and_puts_it_aside(
    punctual: CommandLine, file: Path, tmp_path: Path, held: str
) -> None:
    data = tmp_path / "used"
    data.mkdir()
    (data / held).write_text("of before")
    (data / "notes.txt").write_text("not ours")
    before = tree(data)
    with pytest.raises(StoreRefused, match=f"holds {held}: name another folder, or have them put"):
        put_back(file, data, at_us=0)
    assert tree(data) == before

    done = put_back(file, data, at_us=from_text("2026-06-01T10:00:00Z"), force=True)
    assert done.aside == data / "replaced-20260601T100000Z"
    assert tree(done.aside) == {held: b"of before"}
    assert sorted(path.name for path in data.iterdir()) == [
        *("keys", "notes.txt", "punctual.db", done.aside.name)
    ]


def test_restore_twice_in_a_second_keeps_both_of_the_old_ones(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    at_us = from_text("2026-06-01T10:00:00Z")
    data = tmp_path / "restored"
    for _ in range(3):
        put_back(file, data, at_us=at_us, force=True)
    names = sorted(path.name for path in data.glob("replaced-*"))
    assert names == ["replaced-20260601T100000Z", "replaced-20260601T100000Z-2"]


def test_restore_under_a_running_service_is_refused_also_with_force(
    punctual: CommandLine, file: Path
) -> None:
    now_us = punctual.service.now_us
    expected = "is being served by one: end it first; if it died, try again in"
    with pytest.raises(StoreRefused, match=expected):
        put_back(file, punctual.data, at_us=now_us, force=True)
    punctual.service.stop()
    with pytest.raises(StoreRefused, match=r"another process has the store in .* open: end it"):
        put_back(file, punctual.data, at_us=now_us, force=True)
    punctual.service.close()
    assert put_back(file, punctual.data, at_us=now_us, force=True).aside is not None


def test_restore_after_a_service_died_goes_on_once_its_leases_are_over(
    punctual: CommandLine, file: Path
) -> None:
    punctual.service.kill()
    punctual.service.close()
    later_us = punctual.service.now_us + 60 * SECOND_US
    assert put_back(file, punctual.data, at_us=later_us, force=True).aside is not None


def test_restore_over_a_store_that_cannot_be_read_puts_it_aside(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    data = tmp_path / "broken"
    data.mkdir()
    (data / "punctual.db").write_bytes(b"\xff" * 8_192)
    done = put_back(file, data, at_us=0, force=True)
    assert done.aside is not None
    assert (done.aside / "punctual.db").read_bytes() == b"\xff" * 8_192


def test_restore_that_fails_between_two_renames_takes_them_back(
    punctual: CommandLine, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "restored"
    put_back(file, data, at_us=0)
    before = tree(data)
    real, left = Path.rename, 3

    def failing(path: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(5, "the disk failed", str(path))
        return real(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="the disk failed"):
        put_back(file, data, at_us=1_000_000, force=True)
    assert left < 0, "what was moved was moved back"
    assert tree(data) == before
    assert not list(data.glob("replaced-*"))
    open_data_folder(data, create=False).close()


def test_restore_that_dies_between_two_renames_leaves_a_folder_that_nothing_opens(
    punctual: CommandLine, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "restored"
    put_back(file, data, at_us=0)
    monkeypatch.setattr(module, "unmark", lambda data: None)
    monkeypatch.setattr(swap, "sync_folder", lambda folder: None)
    put_back(file, data, at_us=1_000_000, force=True)
    assert (data / UNFINISHED_FILE).exists()
    for create in (False, True):
        with pytest.raises(StoreRefused, match="was cut off half way: run `punctual restore`"):
            open_data_folder(data, create=create)
    monkeypatch.undo()
    put_back(file, data, at_us=2_000_000, force=True)
    open_data_folder(data, create=False).close()


def test_restore_of_an_older_schema_brings_it_up_to_date(tmp_path: Path) -> None:
    old, file = tmp_path / "old", tmp_path / "old.zip"
    old.mkdir()
    with closing(sqlite3.connect(old / "punctual.db")) as connection:
        connection.executescript(migrations()[0])
        connection.execute("PRAGMA user_version=1")
    take_backup(old, file, at_us=1_000_000)
    put_back(file, tmp_path / "new", at_us=2_000_000)
    with closing(sqlite3.connect(tmp_path / "new" / "punctual.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(migrations()),)


def test_restore_without_room_is_refused_before_anything_is_written(
    punctual: CommandLine, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(StoreRefused, match=r"has room for 1: make room"):
        put_back(file, tmp_path / "new", at_us=0)
    assert not (tmp_path / "new").exists()


def test_restored_store_waits_for_nobody_and_says_who_ran(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    data = tmp_path / "restored"
    restored = put_back(file, data, at_us=punctual.service.now_us)
    assert restored.owners == ("one",)
    with closing(open_data_folder(data, create=False)) as folder:
        assert {(lease.owner_id, lease.expires_us) for lease in folder.store.leases.leases()} == {
            (None, 0)
        }
        transfer = next(
            each for each in folder.store.audit.entries(limit=5) if each.action == "lease_transfer"
        )
        beat = folder.store.leases.heartbeat(
            "two", now_us=punctual.service.now_us, ttl_us=SECOND_US, epsilon_us=0
        )
    assert (transfer.actor, transfer.note) == ("test", "released")
    assert len(beat.held) == PARTITIONS
    assert set(beat.held.values()) == {2}, "what the old owner still sent would be fenced"


def test_restore_of_a_backup_taken_at_rest_names_nobody(
    punctual: CommandLine, tmp_path: Path
) -> None:
    punctual.service.stop()
    file = tmp_path / "at-rest.zip"
    take_backup(punctual.data, file, at_us=punctual.service.now_us)
    data = tmp_path / "restored"
    assert put_back(file, data, at_us=punctual.service.now_us).owners == ()


def test_restore_command_says_what_the_time_since_means(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    data = tmp_path / "restored"
    result = punctual.bare("restore", str(file), "--data", str(data), at="2026-06-01T11:05:30Z")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (
        f"Restored {data} as of 2026-06-01 09:05:30Z, 2 h ago.\n"
        "Before you start it, mind what the backup does not know:\n"
        "- The backup was taken while one ran. If that still runs,\n"
        "  end it first, wherever it is: two installations of one backup send everything twice,\n"
        "  under the same fire keys.\n"
        "- When `punctual up` starts, every instant since then is decided by its trigger's own\n"
        "  policy for missed ones. What was sent already may be sent again, under the same\n"
        "  fire key: targets that drop repeats of `webhook-id` are safe. To look first,\n"
        '  restore again with --force --pause "NOTE".\n'
        "- Triggers, pauses, grants and tokens are those of then: apply your manifests again, and\n"
        "  revoke again what was revoked since.\n"
        "- Payload keys that were deleted since are back: delete them again.\n"
    )


def test_restore_command_with_a_pause_says_how_to_go_on(
    punctual: CommandLine, file: Path, tmp_path: Path
) -> None:
    punctual.service.stop()
    punctual.service.close()
    result = punctual("restore", str(file), "--force", "--pause", "look first")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[1] == (
        f"What it held before is in {punctual.data}/replaced-20260601T090530Z; "
        "remove that once you are content."
    )
    assert lines[6].startswith("- 2 triggers were paused as of then. `punctual resume TRIGGER")


def test_restore_command_answers_in_json(punctual: CommandLine, file: Path, tmp_path: Path) -> None:
    data = tmp_path / "restored"
    result = punctual.bare("restore", str(file), "--data", str(data), "--pause", "x", "--json")
    assert result.exit_code == 0, result.stderr
    assert '"paused": 2' in result.stdout
    assert '"taken_at": "2026-06-01T09:05:30Z"' in result.stdout


def test_restore_command_refuses_in_one_line(punctual: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a letter")
    result = punctual("restore", str(tmp_path / "file"))
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert "is not a backup, or only a part of one" in result.stderr
