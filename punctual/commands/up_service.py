"""The running of `punctual up`: what it starts, and what it tells whoever watches."""

import asyncio
import sys
from contextlib import AsyncExitStack
from socket import socket
from typing import Final

from adapters.clock_fixed import FixedClock
from control_api.answers.missed_report import missed_lines
from control_api.answers.zone_times import local_text
from ports import log_actions as log
from ports.errors import PortError, StoreRefused, TzdataMismatch
from punctual.api_host import serving
from punctual.commands.up import UpOptions, tell
from punctual.data_folder import DataFolder, open_data_folder
from punctual.demo import demo_file, demo_receiver
from punctual.local import LocalService, LocalSettings
from punctual.local_apply import LocalApply, ManifestsRefused
from punctual.local_files import TOKEN_FILE
from punctual.manifest_files import ManifestFile, read_manifest_files
from punctual.receiver import ReceivedFire, line_of
from punctual.saying import say, say_text
from scheduling.instants import from_us
from scheduling.vocabulary import ChangeKind
from scheduling.zones import tzdata_version
from schemas.api.apply import PlanEntry

_LINES_MAX: Final = 20
_HOW_TO_ADD: Final = """
Add a trigger: write it to mine.yaml, then start again with --manifest mine.yaml beside --demo.

  tenants:
    demo:
      targets: {{receiver: {{url: "{endpoint}"}}}}
      triggers:
        mine: {{schedule: "*/5 * * * *", zone: Europe/Berlin, target: receiver}}

Meanwhile, in another terminal: {command} fires --data {data} --follow
One line a fire, with how late it came. Ctrl-C ends it.
"""


def run(options: UpOptions, *, listener: socket, receiver: socket | None) -> None:
    """Until it is stopped. PortError says why it cannot run; the sockets listen already."""
    folder = open_data_folder(options.data, create=True)
    try:
        asyncio.run(_serve(folder, options, listener=listener, receiver=receiver))
    except ManifestsRefused as error:
        raise StoreRefused(str(error)) from error
    except KeyboardInterrupt:
        say(
            "Ended at once: what was in flight may have arrived; a new start may retry it.",
            err=True,
        )
        sys.exit(1)
    finally:
        folder.close()


async def _serve(
    folder: DataFolder, options: UpOptions, *, listener: socket, receiver: socket | None
) -> None:
    clock = FixedClock(epsilon_us=round(options.epsilon_ms * 1_000))
    pinned = folder.store.due_index.pinned_tzdata()
    if pinned != tzdata_version():
        # Before it takes leases that it could only give back.
        raise TzdataMismatch(pinned, tzdata_version())
    async with AsyncExitStack() as stack:
        demo: tuple[str, str] | None = None
        if receiver is not None:
            target, secret = demo_receiver(folder.store.registry, _print_fire, listener=receiver)
            await stack.enter_async_context(target)
            demo = (target.endpoint, secret)
        server = stack.enter_context(
            serving(
                folder,
                clock,
                host=options.host,
                port=options.port,
                allow_loopback=options.allow_loopback,
                auth=options.auth,
                listener=listener,
            )
        )
        tell(f"API: {server.url}, token in {options.data / TOKEN_FILE}")
        apply = _Applier(LocalApply(server.services), options, demo)
        # Before the changes: an edit decides what was missed up to it.
        started_us = clock.now().earliest_us
        service = LocalService(
            folder,
            clock,
            settings=LocalSettings(
                lease_ttl_s=options.lease_ttl_s,
                in_flight_max=options.in_flight_max,
                allow_loopback=options.allow_loopback,
            ),
            on_stopping=_tell_stopping,
            on_hangup=lambda: _reapply(apply),
            on_first_pass=lambda: _tell_missed(folder, started_us),
        )
        with service.signals():
            apply.tell(await asyncio.to_thread(apply))
            _tell_next(folder)
            if demo is not None:
                told = _HOW_TO_ADD.format(endpoint=demo[0], data=options.data, command=sys.argv[0])
                tell(*told.split("\n"))
            await service.run()
    tell("Stopped: attempts in flight have ended, leases are released. Start again at any time.")


class _Applier:
    """Reads the manifests and applies them all as one transaction; again at every call."""

    def __init__(self, apply: LocalApply, options: UpOptions, demo: tuple[str, str] | None) -> None:
        self._apply = apply
        self._options = options
        self._demo = demo

    def __call__(self) -> list[PlanEntry]:
        """ManifestsRefused with every problem of every file; nothing is changed then."""
        files: list[ManifestFile] = []
        if self._demo is not None:
            endpoint, secret = self._demo
            files.append(demo_file(endpoint=endpoint, secret=secret))
        files += read_manifest_files(self._options.manifests)
        return self._apply(files, allow_targets=self._options.allow_targets)

    def tell(self, entries: list[PlanEntry]) -> None:
        """What changed; that nothing did where manifests were given to change something."""
        changed = [entry for entry in entries if entry.change is not ChangeKind.UNCHANGED]
        if self._options.manifests and not changed:
            tell("Manifest applied: everything is as it says already.")
        for entry in changed[:_LINES_MAX]:
            tell(f"  {_entry_text(entry)}")
        if len(changed) > _LINES_MAX:
            tell(f"  and {len(changed) - _LINES_MAX} more")


def _reapply(apply: _Applier) -> None:
    """On SIGHUP: a manifest with a fault changes nothing and ends nothing."""
    try:
        entries = apply()
    except Exception as error:
        # Whatever it is: it happens on a thread that nobody waits for, and has to be told here.
        is_ours = isinstance(error, (ManifestsRefused, PortError))
        told = str(error) if is_ours else f"fault of the program: {error!r}"
        log.error("manifest_refused", error=told)
        say_text(f"Not applied, the old definitions stay:\n{told}", err=True)
        return
    log.info("manifest_applied", changes=len(entries))
    apply.tell(entries)


def _entry_text(entry: PlanEntry) -> str:
    name = entry.name if entry.kind == "tenant" else f"{entry.tenant}/{entry.name}"
    text = f"{entry.change.value} {entry.kind} {name}"
    if entry.next_after:
        text += f", next {local_text(entry.zone or 'UTC', entry.next_after[0])}"
    return text if entry.warning is None else f"{text}: {entry.warning}"


def _tell_stopping() -> None:
    tell("Stopping: attempts in flight end first; Ctrl-C again ends at once.")


def _tell_next(folder: DataFolder) -> None:
    triggers = folder.store.registry.triggers(limit=1)
    if not triggers:
        tell("No triggers yet: give some with --manifest FILE, or look around with --demo.")


def _tell_missed(folder: DataFolder, started_us: int) -> None:
    try:
        lines = missed_lines(folder.store.history, since_us=started_us)
    except PortError as error:
        log.warning("store_unavailable", error=str(error))
        return
    if lines:
        # In one piece: fires are told by another thread at the same time.
        tell("Missed while nothing was running:", *(f"  {line}" for line in lines))


def _print_fire(fire: ReceivedFire) -> None:
    tell(f"{_local_text(fire.received_at_us)}  {line_of(fire)}")


def _local_text(instant_us: int) -> str:
    """Wall time of this machine, for a person who watches it."""
    return from_us(instant_us).astimezone().strftime("%Y-%m-%d %H:%M:%S")
