"""Every check in its order; one that cannot be made is a finding as well."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adapters.kernel_clock import KernelClock, kernel_clock
from adapters.sqlite_database import migrations
from adapters.sqlite_inspection import Owner, SqliteInspection, inspected, is_open_elsewhere
from ports.errors import PortError
from punctual.checkup.finding import Finding, fail, fine
from punctual.checkup.folder import check_folder
from punctual.checkup.machine import (
    check_clock,
    check_disk,
    check_epsilon,
    check_python,
    check_sqlite,
)
from punctual.checkup.server import check_server
from punctual.checkup.store import (
    check_integrity,
    check_keys,
    check_leases,
    check_queues,
    check_schema,
    check_triggers,
    check_tzdata,
)
from punctual.data_folder import STORE_FILE
from scheduling.limits import EPSILON_US_DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckupOptions:
    """check_s:     bounds the look at the file's pages
    host, port:  where the API is to be served; without both, where the folder says it is
    """

    data: Path
    host: str | None
    port: int | None
    check_s: float


def check_up(
    options: CheckupOptions,
    *,
    now_us: int,
    kernel: Callable[[], KernelClock | None] = kernel_clock,
) -> list[Finding]:
    """The findings, in the order in which one would look; nothing is changed."""
    findings = [check_python(), check_sqlite()]
    owners: list[Owner] = []
    if (options.data / STORE_FILE).exists():
        findings += _guarded("folder", lambda: check_folder(options.data))
        findings += _guarded("store", lambda: _store(options, owners, now_us=now_us))
    else:
        remedy = "name its folder with --data, or start one with `punctual up`"
        findings.append(fail("store", f"there is none in {options.data}", remedy))
    alive = [owner for owner in owners if owner.is_alive(now_us)]
    widest = max(alive, key=lambda owner: owner.epsilon_ms, default=None)
    epsilon_us = EPSILON_US_DEFAULT if widest is None else round(widest.epsilon_ms * 1_000)
    findings.append(check_clock(kernel(), epsilon_us=epsilon_us))
    findings.append(check_epsilon(epsilon_us, owner=widest and widest.owner_id))
    host, port = options.host, options.port
    findings += _guarded("port", lambda: [check_server(options.data, host=host, port=port)])
    return findings


def _store(options: CheckupOptions, owners: list[Owner], *, now_us: int) -> Iterator[Finding]:
    file = options.data / STORE_FILE
    log = file.with_name(f"{STORE_FILE}-wal")
    store_bytes = sum(path.stat().st_size for path in (file, log) if path.exists())
    yield check_disk(options.data, store_bytes=store_bytes)
    is_open = _is_open(file)
    with inspected(file) as look:
        schema = check_schema(look)
        yield fine("store", f"{file} opens")
        yield schema
        if not 1 <= look.schema_version() <= len(migrations()):
            return
        yield check_integrity(look, limit_s=options.check_s)
        yield check_tzdata(look)
        yield from _reads(look, options, owners, is_open=is_open, now_us=now_us)


def _is_open(file: Path) -> bool:
    """Whether a process has the store open, who holds leases among them; else they say nothing."""
    try:
        return is_open_elsewhere(file)
    except PortError:
        return True


def _reads(
    look: SqliteInspection,
    options: CheckupOptions,
    owners: list[Owner],
    *,
    is_open: bool,
    now_us: int,
) -> Iterator[Finding]:
    """A damaged table ends one check, not those after it."""
    yield from _guarded("payload keys", lambda: [check_keys(look, options.data)])

    def leases() -> Iterator[Finding]:
        owners.extend(look.owners())
        yield check_leases(owners, is_open=is_open, now_us=now_us)

    yield from _guarded("leases", leases)
    yield from _guarded("triggers", lambda: check_triggers(look, now_us=now_us))
    yield from _guarded("queues", lambda: check_queues(look, now_us=now_us))


def _guarded(check: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    try:
        yield from look()
    except PortError as error:
        yield fail(check, str(error), "restore a backup if the file is damaged")
    except OSError as error:
        yield fail(check, str(error), "let this user read and write the folder")
