"""A real crontab imported, run, and its command received."""

from pathlib import Path

import yaml

from tests.e2e.conftest import Start
from tests.support.http_receiver import SECRET, HttpReceiver
from tests.support.repository import ROOT
from tests.support.service_process import run_punctual, wait_until

CRONTAB = ROOT / "tests" / "cases" / "crontabs" / "cron-d-shop"


def test_imported_crontab_sends_a_due_command(
    start: Start, tmp_path: Path, receiver: HttpReceiver
) -> None:
    file = tmp_path / "shop.yaml"
    done = run_punctual(
        "import", "crontab", CRONTAB, "--tenant", "shop", "--target-url", receiver.url(),
        "--zone", "Europe/Berlin", "-o", file,
    )  # fmt: skip
    assert done.returncode == 1, "two of its entries cannot mean the same"
    assert ":13: '@reboot" in done.stderr
    manifest = yaml.safe_load(file.read_text())
    tenant = manifest["tenants"]["shop"]
    (name,) = (name for name in tenant["triggers"] if name.startswith("heartbeat"))
    tenant["targets"]["cron"]["secret"] = SECRET
    tenant["triggers"][name]["schedule"] = "every 1s"  # it says every minute
    file.write_text(yaml.safe_dump(manifest))

    process = start("--manifest", file)
    wait_until(lambda: bool(receiver.of(name)), "the command arrives")
    assert process.stop() == 0
    payload = receiver.of(name)[0].body["payload"]
    assert payload["command"] == "/srv/shop/bin/heartbeat"
    assert payload["user"] == "shop"
    assert payload["environment"]["SHOP_HOME"] == "/srv/shop current"
