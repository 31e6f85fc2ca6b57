"""What is secret is found nowhere but where it belongs: not in files, logs, answers or backups.

The real service runs at debug level with canaries on every way in; then everything that it wrote
or said is searched for them, in every form.
"""

import base64
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

import pytest

from punctual.data_folder import STORE_FILE
from tests.support.canaries import Canary, Kind, leaks
from tests.support.canary_run import CanaryRun, plant_in_store, write_manifest
from tests.support.canary_seeds import read_everything, seed_all
from tests.support.echo_receiver import EchoReceiver
from tests.support.service_process import ServiceProcess


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CanaryRun]:
    """Seeded, read through, ended; its files are still there."""
    folder = tmp_path_factory.mktemp("canaries")
    with ExitStack() as stack:
        found = CanaryRun(folder, stack.enter_context(EchoReceiver()))
        options = ("--port", 0, "--log-level", "debug", "--log-json")
        manifest = ("--manifest", write_manifest(found))
        process = stack.enter_context(ServiceProcess(found.data, *options, *manifest))
        found.start(process)
        seed_all(found)
        read_everything(found, folder / "backup.zip")
        found.gather_files()
        assert process.stop() == 0
        found.gather_files()
        found.gather_logs()
        found.places["receiver/all"] = found.receiver.content()
        yield found
        sys.stdout.write("\n".join(found.process.err[-20:]))


def test_every_seed_went_the_way_that_was_meant(run: CanaryRun) -> None:
    assert run.unexpected == []
    came = run.places["receiver/all"]
    sent = (
        "put ok",
        "put busy",
        "put garbage",
        "apply",
        "file",
        "manifest",
        "run",
        "run by command",
    )
    for canary in run.aviary.all:
        if canary.kind == "payload" and canary.way.removesuffix(", value") in sent:
            assert canary.text.encode() in came, canary.way
    assert b'"action": "fire_finished"' in run.places["log/stderr"], "the log is not at debug level"


def test_cause_of_an_outcome_is_shown_with_its_fire(run: CanaryRun) -> None:
    cause = canary_of(run, "cause").text.encode()
    for place in ("shown/fire", "shown/fires", "shown/why", "shown/cli-fires"):
        assert cause in run.places[place], place


def test_no_canary_is_where_it_does_not_belong(run: CanaryRun) -> None:
    assert leaks(run.aviary.all, run.places) == []


def canary_of(run: CanaryRun, kind: Kind) -> Canary:
    return next(canary for canary in run.aviary.all if canary.kind == kind)


def found_in(place: str, content: bytes, canary: Canary) -> set[tuple[str, str]]:
    """Where it leaks, and what; that nothing leaks without what is planted is shown above."""
    return {(leak.place, leak.kind) for leak in leaks([canary], {place: content})}


ENCODINGS: Final[dict[str, Callable[[str], bytes]]] = {
    "plain": lambda text: text.encode(),
    "JSON": lambda text: f'{{"error": "{text}"}}'.encode(),
    "hex": lambda text: text.encode().hex().encode(),
    "percent": lambda text: "".join(f"%{each:02X}" for each in text.encode()).encode(),
    "base64": lambda text: base64.b64encode(f"{text} and more".encode()),
    "base64 behind one byte": lambda text: base64.b64encode(f'"{text}" and more'.encode()),
    "base64 behind two bytes": lambda text: base64.b64encode(f'{{"{text}": 1}}'.encode()),
    "repr of UTF-16": lambda text: text.encode("utf-16-le"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("log/stderr", "payload"),
        ("log/stdout", "secret"),
        ("log/stderr", "attempt_token"),
        ("log/stderr", "token"),
        ("log/stderr", "refused_token"),
        ("log/stderr", "cause"),
        ("log/stderr", "note"),
        ("log/stderr", "request"),
        ("log/stderr", "key"),
        ("answer/body zone", "payload"),
        ("answer/put-target", "secret"),
        ("read/metrics", "payload"),
        ("read/v1/events", "note"),
        ("shown/audit", "payload"),
        ("shown/audit", "cause"),
        ("read/v1/events", "cause"),
        ("read/metrics", "cause"),
        ("cli/doctor", "secret"),
        ("file/keys/planted.json", "payload"),
        ("backup/contents.json", "token"),
    ],
)
def test_planted_leak_is_found(run: CanaryRun, place: str, kind: Kind, encoding: str) -> None:
    canary = canary_of(run, kind)
    content = run.places.get(place, b"") + ENCODINGS[encoding](canary.text)
    assert found_in(place, content, canary) == {(place, kind)}


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        pytest.param("payload", "UPDATE payload SET sealed = CAST(? AS BLOB)", id="unsealed"),
        pytest.param("secret", "UPDATE target SET endpoint = ?", id="beside_the_sealed"),
        pytest.param("payload", "UPDATE trigger_version SET fingerprint = ?", id="definition"),
        pytest.param("token", "UPDATE OR IGNORE token SET token_hash = ?", id="token"),
        pytest.param("attempt_token", "UPDATE attempt SET token_jti = ?", id="attempt_token"),
        pytest.param("payload", "UPDATE outbox SET body = ?", id="outbox"),
        pytest.param("payload", "UPDATE event_log SET body = ?", id="event_log"),
        pytest.param("payload", "UPDATE attempt SET error = ?", id="echo_of_the_receiver"),
        pytest.param("request", "UPDATE fire SET trace_parent = ?", id="trace_parent"),
    ],
)
def test_planted_column_is_found(run: CanaryRun, kind: Kind, statement: str) -> None:
    canary, place = canary_of(run, kind), f"file/{STORE_FILE}"
    planted = plant_in_store(run.data / STORE_FILE, statement, canary.text)
    assert found_in(place, planted, canary) == {(place, kind)}


def test_row_that_was_written_unsealed_and_deleted_is_found_in_the_free_page(
    run: CanaryRun,
) -> None:
    canary, place = canary_of(run, "payload"), f"file/{STORE_FILE}"
    planted = plant_in_store(
        run.data / STORE_FILE,
        "INSERT INTO payload VALUES ('planted', 'acme', CAST(? AS BLOB), 1)",
        canary.text * 500,
        then="DELETE FROM payload WHERE payload_ref = 'planted'",
    )
    assert found_in(place, planted, canary) == {(place, "payload")}
