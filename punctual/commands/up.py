"""`punctual up`: the whole service in one process."""

import asyncio
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from adapters.clock_fixed import FixedClock
from control_api.answers.missed_report import missed_lines
from control_api.answers.zone_times import local_text
from ports import log_actions as log
from ports.errors import PortError, StoreRefused, TzdataMismatch
from punctual.api_host import API_PORT, Auth, serving
from punctual.commands.api import LOOPBACK_DEFAULT, allows_loopback, bind_text
from punctual.data_folder import DataFolder, open_data_folder
from punctual.demo import DEMO_PORT, demo_file, demo_receiver
from punctual.local import IN_FLIGHT_DEFAULT, LocalService, LocalSettings
from punctual.local_apply import LocalApply, ManifestsRefused
from punctual.local_files import TOKEN_FILE
from punctual.logs import LEVELS, configure_logs
from punctual.manifest_files import ManifestFile, read_manifest_files
from punctual.receiver import ReceivedFire, line_of
from punctual.version import __version__
from scheduling.instants import from_us
from scheduling.limits import LEASE_TTL_S_DEFAULT, LEASE_TTL_S_MAX
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """The command line of `up`, checked."""

    data: Path
    host: str
    port: int
    auth: Auth
    manifests: tuple[Path, ...]
    demo: bool
    receiver_port: int
    epsilon_ms: float
    lease_ttl_s: float
    in_flight_max: int
    allow_loopback: bool
    allow_targets: bool


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".punctual"),
    envvar="PUNCTUAL_DATA",
    show_default=True,
    help="Folder of the store and its keys.",
)
@click.option(
    "--manifest",
    "manifests",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="YAML of tenants, targets and triggers; applied as one transaction, again on SIGHUP.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the API.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=API_PORT,
    envvar="PUNCTUAL_PORT",
    show_envvar=True,
    show_default=True,
    help="Port of the API; 0 takes any free one.",
)
@click.option(
    "--auth",
    type=click.Choice(["tokens", "none"]),
    default="tokens",
    show_default=True,
    help="What proves who calls the API; none is for loopback alone.",
)
@click.option("--demo", is_flag=True, help="Add a demo tenant and a receiver to watch.")
@click.option(
    "--receiver-port",
    type=click.IntRange(0, 65535),
    default=DEMO_PORT,
    show_default=True,
    help="Port of the demo receiver, on loopback.",
)
@click.option(
    "--epsilon-ms",
    type=click.FloatRange(0, 100),
    default=5.0,
    show_default=True,
    help="Bound of this machine's clock error; an instant fires this much after it at least.",
)
@click.option(
    "--lease-ttl-s",
    type=click.FloatRange(1, LEASE_TTL_S_MAX),
    default=LEASE_TTL_S_DEFAULT,
    show_default=True,
    help="How long a dead process keeps its partitions.",
)
@click.option(
    "--in-flight-max",
    type=click.IntRange(1, 10_000),
    default=IN_FLIGHT_DEFAULT,
    show_default=True,
    help="Attempts at once.",
)
@click.option(
    "--allow-loopback/--no-allow-loopback",
    default=None,
    show_default=LOOPBACK_DEFAULT,
    help="Whether targets on this machine may be called; other private addresses never.",
)
@click.option(
    "--allow-targets",
    is_flag=True,
    help="Vouch for the hosts of the manifests' targets, instead of a proof by each host.",
)
@click.option("--log-level", type=click.Choice(LEVELS), default="warning", show_default=True)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")
def up(
    log_level: str, log_json: bool, host: str, allow_loopback: bool | None, **options: Any
) -> None:
    """Run the service: decide, commit, deliver. Ctrl-C drains and ends it."""
    is_allowed = allows_loopback(allow_loopback, host)
    if options["demo"] and not is_allowed:
        raise click.UsageError("--demo: its receiver is on this machine: add --allow-loopback.")
    configure_logs(level=log_level, as_json=log_json)
    try:
        _run(UpOptions(host=host, allow_loopback=is_allowed, **options))
    except (ManifestsRefused, PortError) as error:
        click.echo(f"Not started. {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo(
            "Ended at once: what was in flight may have arrived; a new start may retry it.",
            err=True,
        )
        sys.exit(1)


def _run(options: UpOptions) -> None:
    folder = open_data_folder(options.data, create=True)
    try:
        asyncio.run(_serve(folder, options))
    finally:
        folder.close()


async def _serve(folder: DataFolder, options: UpOptions) -> None:
    clock = FixedClock(epsilon_us=round(options.epsilon_ms * 1_000))
    pinned = folder.store.due_index.pinned_tzdata()
    _say(f"punctual {__version__}: data in {options.data}, tzdata {pinned}")
    if pinned != tzdata_version():
        # Before it takes leases that it could only give back.
        raise TzdataMismatch(pinned, tzdata_version())
    async with AsyncExitStack() as stack:
        demo: tuple[str, str] | None = None
        if options.demo:
            receiver, secret = demo_receiver(
                folder.store.registry, _print_fire, port=options.receiver_port
            )
            try:
                await stack.enter_async_context(receiver)
            except OSError as error:
                text = bind_text(error, "127.0.0.1", options.receiver_port, option="receiver-port")
                raise StoreRefused(text) from error
            demo = (receiver.endpoint, secret)
        try:
            server = stack.enter_context(
                serving(
                    folder,
                    clock,
                    host=options.host,
                    port=options.port,
                    allow_loopback=options.allow_loopback,
                    auth=options.auth,
                )
            )
        except OSError as error:
            raise StoreRefused(bind_text(error, options.host, options.port)) from error
        _say(f"API: {server.url}, token in {options.data / TOKEN_FILE}")
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
                _say(_HOW_TO_ADD.format(endpoint=demo[0], data=options.data, command=sys.argv[0]))
            await service.run()
    _say("Stopped: attempts in flight have ended, leases are released. Start again at any time.")


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
            _say("Manifest applied: everything is as it says already.")
        for entry in changed[:_LINES_MAX]:
            _say(f"  {_entry_text(entry)}")
        if len(changed) > _LINES_MAX:
            _say(f"  and {len(changed) - _LINES_MAX} more")


def _reapply(apply: _Applier) -> None:
    """On SIGHUP: a manifest with a fault changes nothing and ends nothing."""
    try:
        entries = apply()
    except Exception as error:
        # Whatever it is: it happens on a thread that nobody waits for, and has to be told here.
        is_ours = isinstance(error, (ManifestsRefused, PortError))
        told = str(error) if is_ours else f"fault of the program: {error!r}"
        log.error("manifest_refused", error=told)
        click.echo(f"Not applied, the old definitions stay:\n{told}", err=True)
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
    _say("Stopping: attempts in flight end first; Ctrl-C again ends at once.")


def _tell_next(folder: DataFolder) -> None:
    triggers = folder.store.registry.triggers(limit=1)
    if not triggers:
        _say("No triggers yet: give some with --manifest FILE, or look around with --demo.")


def _tell_missed(folder: DataFolder, started_us: int) -> None:
    try:
        lines = missed_lines(folder.store.history, since_us=started_us)
    except PortError as error:
        log.warning("store_unavailable", error=str(error))
        return
    if lines:
        # In one piece: fires are told by another thread at the same time.
        _say("\n".join(("Missed while nothing was running:", *(f"  {line}" for line in lines))))


def _print_fire(fire: ReceivedFire) -> None:
    _say(f"{_local_text(fire.received_at_us)}  {line_of(fire)}")


def _local_text(instant_us: int) -> str:
    """Wall time of this machine, for a person who watches it."""
    return from_us(instant_us).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _say(line: str) -> None:
    """For whoever watches; when nobody does any more, the service goes on without."""
    with suppress(OSError):
        click.echo(line)
        sys.stdout.flush()
