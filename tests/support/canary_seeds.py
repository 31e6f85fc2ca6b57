"""The ways in: what is accepted and sent on, what is refused, and what people say about it."""

import json
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.canary_run import HOWS, PREFIX, TENANT, CanaryRun
from tests.support.service_process import wait_until

_KEEP: Final = {"If-Match": "*"}


def seed_all(run: CanaryRun) -> None:
    """Everything, in an order in which each finds what it needs."""
    for seed in (
        accepted,
        sent,
        reported,
        noted,
        refused_bodies,
        refused_targets,
        refused_manifests,
        refused_heads,
        refused_tokens,
        refused_files,
        refused_commands,
    ):
        seed(run)


def accepted(run: CanaryRun) -> None:
    """Definitions with payloads and secrets, by every way that makes one."""
    for how in HOWS:
        body = run.trigger(how, payload=run.payload(f"put {how}"), retry={"attempts": 9})
        run.ask(f"put-{how}", "PUT", f"{PREFIX}/triggers/put-{how}", body, expect=201)
    target = {"url": run.receiver.url("ok"), "secret": run.aviary.seed_secret("put target")}
    run.ask("put-target", "PUT", f"{PREFIX}/targets/other", target, expect=201)
    run.ask("secret", "GET", f"{PREFIX}/targets/other/secret", place="shown/secret")
    run.command("secret", "targets", "secret", f"{TENANT}/other", place="shown/secret-cli")
    members = {"triggers": {"applied": run.trigger("other", payload=run.payload("apply"))}}
    members |= {"targets": {"other": target}}
    run.ask("apply", "POST", "/v1/apply", {"manifests": [{"tenants": {TENANT: members}}]})
    file = run.folder / "more.yaml"
    members["triggers"] = {"filed": run.trigger("other", payload=run.payload("file"))}
    file.write_text(yaml.safe_dump({"tenants": {TENANT: members}}))
    run.command("apply", "apply", "-f", file, "--yes")
    # Replaced: what was there stays in old versions and free pages.
    body = run.trigger("refuse", payload=run.payload("replaced"))
    run.ask("replace", "PUT", f"{PREFIX}/triggers/put-moved", body, headers=_KEEP)
    target["secret"] = run.aviary.seed_secret("replaced target")
    run.ask("replace-target", "PUT", f"{PREFIX}/targets/other", target, headers=_KEEP)
    grants = [{"kind": "read", "tenant": TENANT}]
    body = {"principal": "ci", "grants": grants}
    made = run.ask("token", "POST", "/v1/tokens", body, expect=201, place="shown/token")
    run.aviary.keep("token", "api", made["token"])
    options = ("--principal", "cd", "--grant", f"read:{TENANT}")
    made = run.command("token", "token", "create", *options, "--json", place="shown/token-cli")
    run.aviary.keep("token", "cli", json.loads(made)["token"])


def sent(run: CanaryRun) -> None:
    """Fires to every kind of answer, some with a payload of their own."""
    for how in HOWS:
        run.ask(f"run-{how}", "POST", f"{PREFIX}/triggers/put-{how}:run", expect=202)
    for name in ("applied", "filed", "manifest"):
        run.ask(f"run-{name}", "POST", f"{PREFIX}/triggers/{name}:run", expect=202)
    body = {"payload": run.payload("run")}
    key = {"Idempotency-Key": run.aviary.seed("key", "run")}
    path = f"{PREFIX}/triggers/put-ok:run"
    run.ask("run-own", "POST", path, body, headers=key, expect=202)
    run.ask("run-again", "POST", path, body, headers=key, expect=202)
    other = {"payload": run.payload("reused key")}
    run.ask("run-reused", "POST", path, other, headers=key, expect=422)
    payload = json.dumps(run.payload("run by command"))
    run.command("run", "run", f"{TENANT}/put-ok", "--payload", payload)
    wait_until(lambda: len(run.receiver.of("ok")) >= 6, "the runs arrive")
    for how in ("refuse", "busy", "garbage"):
        wait_until(partial(has_come, run, how), f"the run to {how} arrives")
    for number, got in enumerate(run.receiver.got):
        run.aviary.keep("attempt_token", f"attempt {number}", got.token.rpartition(".")[2])


def has_come(run: CanaryRun, how: str) -> bool:
    """Whether the receiver got something that it answers so."""
    return bool(run.receiver.of(how))


def reported(run: CanaryRun) -> None:
    """Outcomes with a cause, and reports that are refused."""
    cause = {"outcome": "failed", "cause": run.aviary.seed("cause", "outcome")}
    token = run.receiver.of("ok")[0].token
    run.ask("outcome", "POST", "/v1/outcomes", cause, token=token)
    for way, body, expect in (
        ("outcome-key", {**cause, "result": run.payload("outcome")}, 422),
        ("outcome-word", {"outcome": run.aviary.seed("payload", "outcome word")}, 422),
        ("outcome-fire", {"outcome": "failed", "fire_key": "a~b~1~0"}, 403),
    ):
        run.ask(way, "POST", "/v1/outcomes", body, token=token, expect=expect)


def noted(run: CanaryRun) -> None:
    """What people write beside their acts."""
    seed, path = run.aviary.seed, f"{PREFIX}/triggers/put-refuse"
    note = {"note": seed("note", "pause")}
    run.ask("note-pause", "POST", path + ":pause", note)
    run.ask("note-resume", "POST", path + ":resume", {"note": seed("note", "resume")})
    run.ask("note-pause", "POST", f"{PREFIX}/triggers/applied:pause", note)
    note = {"note": seed("note", "run")}
    run.ask("note-run", "POST", path + ":run", note, expect=202)
    run.command("note", "pause", f"{TENANT}/filed", "--note", seed("note", "cli"), "--yes")
    host = {"note": seed("note", "host")}
    run.ask("note-host", "PUT", "/v1/allowed-hosts/hooks.example", host)
    busy = f"/v1/fires?tenant={TENANT}&trigger=put-busy"
    fires = run.ask("fires", "GET", busy, place="shown/busy")["items"]
    note = {"note": seed("note", "cancel")}
    run.ask("note-cancel", "POST", f"/v1/fires/{fires[0]['fire_key']}:cancel", note)
    long = {"note": seed("payload", "long note") * 100}
    run.ask("long-note", "POST", path + ":pause", long, expect=422)


def refused_bodies(run: CanaryRun) -> None:
    """A trigger's body with a payload in it, and every kind of mistake beside it."""
    seed = run.aviary.seed

    def body(way: str, **keys: Any) -> dict[str, Any]:
        return run.trigger(payload=run.payload(way), **keys)

    path = f"{PREFIX}/triggers/refused"
    text = json.dumps(body("broken"))
    for way, content, expect in (
        ("zone", body("zone", zone="Mars/Olympus"), 422),
        ("schedule", body("schedule", schedule="61 * * * *"), 422),
        ("target", body("target", target="nosuch"), 422),
        (
            "unknown value",
            body("unknown value", colour=seed("payload", "value of unknown key")),
            422,
        ),
        ("unknown key", {**body("key"), seed("payload", "name of unknown key"): 1}, 422),
        ("misspelt", {**run.trigger(), "paylod": run.payload("misspelt")}, 422),
        ("number", body("number", max_fires=seed("payload", "max_fires")), 422),
        ("enum", body("enum", missed=seed("payload", "missed")), 422),
        ("mapping", body("mapping", retry=seed("payload", "retry")), 422),
        ("in retry", body("in retry", retry={"body": run.payload("in retry value")}), 422),
        ("key in retry", body("kr", retry={seed("payload", "key in retry"): 1}), 422),
        ("flag", body("flag", paused=seed("payload", "paused")), 422),
        ("duration", body("duration", run_timeout=seed("payload", "run_timeout")), 422),
        ("instant", body("instant", starts_at=seed("payload", "starts_at")), 422),
        ("date", body("date", exclude=[seed("payload", "exclude")]), 422),
        ("big", run.trigger(payload=[seed("payload", "big")] * 4000), 422),
        ("truncated", text[:-1].encode(), 400),
        ("not JSON", seed("payload", "not JSON").encode(), 400),
        ("twice", b'{"payload": 1, "payload": "%s"}' % seed("payload", "twice").encode(), 400),
        ("key twice", b'{"%s": 1, "%s": 2}' % ((seed("payload", "key twice").encode(),) * 2), 400),
        ("NaN", b'{"payload": ["%s", NaN]}' % seed("payload", "NaN").encode(), 400),
        ("not UTF-8", b'{"payload": "%s\xff"}' % seed("payload", "not UTF-8").encode(), 400),
        ("deep", b"[" * 99 + b'"%s"' % seed("payload", "deep").encode() + b"]" * 99, 422),
        ("a list", [run.payload("a list")], 422),
        ("a text", json.dumps(seed("payload", "a text")).encode(), 422),
        ("huge", b'"%s"' % (seed("payload", "huge").encode() * 80_000), 413),
    ):
        run.ask(f"body {way}", "PUT", path, content, expect=expect)
    refused_beside_bodies(run, body)


def refused_beside_bodies(run: CanaryRun, body: Callable[[str], dict[str, Any]]) -> None:
    """Sound bodies that something else is wrong with."""
    path = f"{PREFIX}/triggers/refused"
    plain = {"Content-Type": "text/plain"}
    run.ask("body type", "PUT", path, body("type"), headers=plain, expect=415)
    run.ask("body method", "PATCH", path, body("method"), expect=405)
    run.ask("body route", "PUT", "/v1/nosuch", body("route"), expect=404)
    run.ask("body no token", "PUT", path, body("no token"), token=None, expect=401)
    run.ask("body tenant", "PUT", "/v1/tenants/nosuch/triggers/x", body("tenant"), expect=404)
    stale = {"If-Match": '"999"'}
    run.ask(
        "body stale", "PUT", f"{PREFIX}/triggers/put-ok", body("stale"), headers=stale, expect=412
    )
    run.ask("body match", "PUT", f"{PREFIX}/triggers/put-ok", body("no match"), expect=428)
    for verb in ("pause", "resume", "run"):
        acted = {"note": "x", "body": run.payload(f"body {verb}")}
        run.ask(f"body {verb}", "POST", f"{PREFIX}/triggers/put-ok:{verb}", acted, expect=422)


def refused_targets(run: CanaryRun) -> None:
    """Secrets that are none, and secrets where none belongs."""
    secret, path = run.aviary.seed_secret, f"{PREFIX}/targets/refused"
    url = run.receiver.url("ok")
    for way, body in (
        ("bad", {"url": url, "secret": secret("bad") + "!"}),
        ("short", {"url": url, "secret": secret("short")[:20] + "\n"}),
        ("prefix", {"url": url, "secret": secret("prefix").removeprefix("whsec_")}),
        ("list", {"url": url, "secret": [secret("list")]}),
        ("other key", {"url": url, "secrets": secret("other key")}),
        ("as a key", {"url": url, secret("as a key"): 1}),
        ("in the user of the URL", {"url": f"https://u:{secret('user')}@hooks.example/"}),
        ("as the timeout", {"url": url, "timeout_s": secret("timeout")}),
        ("beside a bad URL", {"url": "ftp://hooks.example", "secret": secret("bad URL")}),
        ("without a URL", {"secret": secret("no URL")}),
    ):
        run.ask(f"target {way}", "PUT", path, body, expect=422)
    quota = {"quota_triggers": 1, secret("quota key"): secret("quota value")}
    run.ask("quota", "PUT", f"{PREFIX}/quota", quota, expect=422)
    grants = {"principal": "x", "grants": [{"kind": secret("grant kind"), secret("grant key"): 1}]}
    run.ask("grants", "POST", "/v1/tokens", grants, expect=422)


def refused_manifests(run: CanaryRun) -> None:
    """Trees of manifests with mistakes among secrets and payloads."""
    seed, secret, url = run.aviary.seed, run.aviary.seed_secret, run.receiver.url("ok")
    for way, members in (
        ("bad secret", {"targets": {"x": {"url": url, "secret": secret("apply bad") + "!"}}}),
        ("secret as a key", {"targets": {"x": {"url": url, secret("apply key"): 1}}}),
        ("secret as a name", {"targets": {secret("apply name"): {"url": url}}}),
        ("secret for a target", {"targets": {"x": secret("apply target")}}),
        ("secret in the tenant", {secret("apply tenant key"): secret("apply tenant value")}),
        (
            "two secrets",
            {"targets": {"x": {"url": url, "secret": secret("two"), "secret_env": "A"}}},
        ),
        ("payload out of place", {"triggers": {"x": {**run.trigger(), **run.payload("indented")}}}),
        ("zone", {"triggers": {"x": run.trigger(zone="Mars", payload=run.payload("apply zone"))}}),
        ("payload for a trigger", {"triggers": {"x": seed("payload", "apply trigger")}}),
        ("payload in retry", {"triggers": {"x": run.trigger(retry=run.payload("apply retry"))}}),
        ("payload for triggers", {"triggers": [run.payload("apply triggers")]}),
    ):
        body = {"manifests": [{"tenants": {TENANT: members}}]}
        run.ask(f"apply {way}", "POST", "/v1/apply", body, expect=422)
    bodies: tuple[tuple[str, Any], ...] = (
        ("no tenants", {"manifests": [{"tenants": [run.payload("no tenants")]}]}),
        (
            "unknown key",
            {"manifests": [], seed("payload", "apply key"): run.payload("apply value")},
        ),
        ("in a manifest", {"manifests": [{"tenants": {}, "x": run.payload("in a manifest")}]}),
    )
    for way, body in bodies:
        run.ask(f"apply {way}", "POST", "/v1/apply", body, expect=422)


def refused_heads(run: CanaryRun) -> None:
    """Paths, queries and headers, of what is refused and of what is not."""
    seed = run.aviary.seed
    trace = run.aviary.keep("request", "traceparent", seed("request", "-").encode().hex()[:32])
    for way, path, expect in (
        ("path", f"/v1/{seed('request', 'path')}", 404),
        ("tenant", f"/v1/tenants/{seed('request', 'tenant')}", 404),
        ("name", f"{PREFIX}/triggers/{seed('request', 'trigger')}", 404),
        ("fire", f"/v1/fires/{seed('request', 'fire')}", 422),
        ("parameter", f"/v1/fires?{seed('request', 'parameter')}=1", 422),
        ("value", f"/v1/fires?state={seed('request', 'value')}", 422),
        ("cursor", f"/v1/fires?cursor={seed('request', 'cursor')}", 400),
        ("instant", f"/v1/fires?since={seed('request', 'since')}", 422),
        ("query of nothing", f"/nosuch?x={seed('request', 'query of nothing')}", 404),
    ):
        run.ask(way, "GET", path, expect=expect)
    for name in ("User-Agent", "Cookie", "X-Request-Id", "X-Forwarded-For", "Referer"):
        run.ask("header", "GET", "/v1/tenants", headers={name: seed("request", name)})
    run.ask("trace", "GET", "/v1/tenants", headers={"traceparent": f"00-{trace}-{trace[:16]}-01"})
    for name in ("If-Match", "If-None-Match"):
        head = {name: seed("request", name)}
        path = f"{PREFIX}/triggers/put-ok"
        run.ask(f"head {name}", "PUT", path, run.trigger(), headers=head, expect=400)
    key = {"Idempotency-Key": seed("request", "long key") * 20}
    run.ask("long key", "POST", f"{PREFIX}/triggers/put-ok:pause", headers=key, expect=400)
    run.ask("host", "GET", "/healthz", headers={"Host": seed("request", "host")})


def refused_tokens(run: CanaryRun) -> None:
    """Credentials that prove nothing, wherever people put them."""
    seed = run.aviary.seed

    def token(way: str) -> str:
        return "pun_" + seed("refused_token", way)

    for way, headers in (
        ("bearer", {"Authorization": f"Bearer {token('bearer')}"}),
        ("basic", {"Authorization": f"Basic {token('basic')}"}),
        ("bare", {"Authorization": token("bare")}),
        ("cookie", {"Cookie": f"token={token('cookie')}"}),
        ("header", {"X-Api-Key": token("header")}),
    ):
        run.ask(f"token {way}", "GET", "/v1/tenants", token=None, headers=headers, expect=401)
    path = f"/v1/tenants?token={token('query')}"
    run.ask("token query", "GET", path, token=None, expect=401)
    run.ask("token outcome", "POST", "/v1/outcomes", {}, token=token("outcome"), expect=401)


def refused_files(run: CanaryRun) -> None:
    """Manifest files with mistakes that only a file can have; then one for a running service."""
    seed, secret = run.aviary.seed, run.aviary.seed_secret

    def p(way: str) -> str:
        return seed("payload", f"file {way}")

    head = f"tenants:\n  {TENANT}:\n    "
    target = "targets:\n      x:\n        url: http://127.0.0.1:1/\n        "
    trigger = 'triggers:\n      x:\n        schedule: "@daily"\n        zone: UTC\n        '
    trigger += "target: ok\n        payload: "
    texts = {
        "tab": f"{head}{trigger}\n\t\ttext: {p('tab')}",
        "open quote": f'{head}{trigger}"{p("open quote")}',
        "open bracket": f"{head}{trigger}{{text: {p('open bracket')}",
        "key twice": f"{head}{trigger}{{{p('twice')}: 1, {run.aviary.all[-1].text}: 2}}",
        "tag": f"{head}{trigger}!!python/name:{p('tag')} x",
        "own tag": f"{head}{trigger}!{p('own tag')} x",
        "alias": f"{head}{trigger}*{p('alias')}",
        "anchor": f"{head}{trigger}&{p('anchor')} x",
        "indented": f"{head}{trigger}\n        {p('indented key')}: {p('indented value')}",
        "colon": f"{head}{trigger}a: b: {p('colon')}",
        "control": f"{head}{trigger}{p('control')}\x07",
        "date": f"{head}{trigger}[2026-01-01, {p('date')}]",
        "bad secret": f"{head}{target}secret: {secret('file bad')}!",
        "secret as a key": f"{head}{target}{secret('file key')}: 1",
        "secret without a key": f"{head}{target}{secret('file no key')}",
        "secret as a path": f"{head}{target}secret_file: {secret('file path')}",
        "secret as a variable": f"{head}{target}secret_env: {secret('file variable')}",
        "secret in a file": f"{head}{target}secret_file: secret.txt",
        "secret in a variable": f"{head}{target}secret_env: BAD_SECRET",
    }
    (run.folder / "secret.txt").write_text(secret("in a bad file") + "!")
    bad = {"BAD_SECRET": secret("in a bad variable") + "!"}
    file = run.folder / "bad.yaml"
    for way, text in texts.items():
        file.write_text(text + "\n")
        run.command(f"file {way}", "apply", "-f", file, "--yes", expect=1, environment=bad)
    good = run.folder / "manifest.yaml"
    good.write_text(texts["bad secret"] + "\n" + texts["indented"].removeprefix(head) + "\n")
    run.process.send(signal.SIGHUP)
    run.process.wait_for_err("Not applied, the old definitions stay")


def refused_commands(run: CanaryRun) -> None:
    """Command lines that are wrong, with something secret in them."""
    seed = run.aviary.seed
    payload = run.folder / "payload.json"
    payload.write_text(f'{{"text": "{seed("payload", "payload file")}", }}')
    run.command("payload file", "run", f"{TENANT}/put-ok", "--payload", payload, expect=None)
    text = f'{{"text": "{seed("payload", "payload text")}", }}'
    run.command("payload text", "run", f"{TENANT}/put-ok", "--payload", text, expect=None)
    user = f"http://u:{seed('refused_token', 'server')}@127.0.0.1:1"
    run.command("server", "triggers", "--server", user, expect=2)
    token = "pun_" + seed("refused_token", "variable")
    run.command("token", "triggers", expect=1, environment={"PUNCTUAL_TOKEN": token})
    broken = {"PUNCTUAL_TOKEN": token + "\nx"}
    run.command("broken token", "triggers", expect=1, environment=broken)
    run.command("token as an id", "token", "revoke", token, expect=1)


def read_everything(run: CanaryRun, backup: Path) -> None:
    """Ask for all that can be read, by the API and by command, and take a backup."""
    shown = {
        "audit": "/v1/audit?limit=1000",
        "triggers": f"/v1/triggers?tenant={TENANT}",
        "fires": f"/v1/fires?tenant={TENANT}&expand=true",
    }
    for name, path in shown.items():
        run.ask(name, "GET", path, place=f"shown/{name}")
    for fire in run.ask("fires", "GET", shown["fires"], place="shown/fires")["items"]:
        run.ask("fire", "GET", f"/v1/fires/{fire['fire_key']}", place="shown/fire")
        if fire["state"] == "failed":
            path = f"{PREFIX}/triggers/{fire['trigger']}/why?instant={fire['scheduled_instant']}"
            run.ask("why", "GET", path, place="shown/why")
    for name in (*(f"put-{how}" for how in HOWS), "applied", "filed", "manifest"):
        path = f"{PREFIX}/triggers/{name}"
        run.ask("trigger", "GET", path, place="shown/trigger")
        run.ask("why", "GET", path + "/why", place="shown/why")
        run.ask("upcoming", "GET", path + "/upcoming", place="shown/upcoming")
    for path in (
        *("/v1/events?limit=1000", "/openapi.json", "/metrics", "/readyz", "/healthz"),
        *("/.well-known/jwks.json", "/v1/tenants", "/v1/tokens", "/v1/grants", "/v1/backlog"),
        *("/v1/allowed-hosts", f"{PREFIX}/targets", f"{PREFIX}/hot-seconds", f"{PREFIX}/upcoming"),
    ):
        run.ask(path, "GET", path, place=f"read{path.partition('?')[0]}")
    for name in ("audit", "triggers", "fires"):
        run.command(name, name, "--json", place=f"shown/cli-{name}")
        run.command(name, name, place=f"shown/cli-{name}-text")
    run.command("why", "why", f"{TENANT}/put-refuse", place="shown/cli-why")
    for name in ("events", "targets", "tenants", "grants", "status", "leases"):
        run.command(f"read {name}", name)
    run.command("doctor", "doctor", "--json", expect=None)
    run.command("backup", "backup", backup)
    run.gather_backup(backup)
