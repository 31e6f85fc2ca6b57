"""`punctual status`: whether the service can do its work now, on one screen."""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from control_api.answers.zone_times import span_text
from punctual.commands.common import Refusal, api_options, json_option
from punctual.commands.tables import Cell, Column, print_table
from punctual.commands.wording import count_text
from punctual.local_files import told_server
from punctual.saying import say, say_json
from punctual.transports import Answer, NetworkTransport, NoAnswer, serves_folder
from scheduling.instants import SECOND_US

_TIMEOUT_S: Final = 10.0
_CHECKS: Final = (Column("check"), Column("state"), Column("found", flexible=30))
_OLDEST: Final = "punctual_oldest_undispatched_due_age_seconds"
_BACKLOG: Final = "punctual_backlog_fires"
_QUARANTINED: Final = "punctual_quarantined_triggers"
_RELAY: Final = "punctual_relay_lag_seconds"


class Signals(NamedTuple):
    """What the service's metrics say; None for what they do not, as where the store is away."""

    oldest_due_age_s: float | None
    backlog: dict[str, int]
    quarantined: int | None
    relay_lag_s: float | None


@click.command()
@api_options
@json_option
def status(data: Path, server: str | None, as_json: bool) -> None:
    """Show whether the service can decide and commit now, and what waits.

    The exit code is 1 where it is not ready, or not there. It takes no token.
    """
    transport = _transport(data, server)
    try:
        ready = json.loads(_read(transport, "/readyz", 200, 503).body)
        signals = read_signals(_read(transport, "/metrics", 200).body.decode())
    finally:
        transport.close()
    if as_json:
        say_json({**ready, **signals._asdict()})
    else:
        _print(ready, signals)
    if not ready["ready"]:
        failed = ", ".join(each["name"] for each in ready["checks"] if not each["ok"])
        raise Refusal(f"not ready: {failed}")


def read_signals(page: str) -> Signals:
    """The signals on a page of metrics in the text format of Prometheus."""
    values: dict[str, dict[str, float]] = {}
    for line in page.splitlines():
        if line.startswith("#") or " " not in line:
            continue
        series, _, value = line.rpartition(" ")
        name, _, labels = series.partition("{")
        values.setdefault(name, {})[labels.rstrip("}")] = float(value)
    quarantined = _only(values.get(_QUARANTINED))
    lags = values.get(_RELAY)
    return Signals(
        oldest_due_age_s=_only(values.get(_OLDEST)),
        backlog={
            labels.split('"')[1]: int(count) for labels, count in values.get(_BACKLOG, {}).items()
        },
        quarantined=None if quarantined is None else int(quarantined),
        relay_lag_s=max(lags.values()) if lags else None,
    )


def _only(series: dict[str, float] | None) -> float | None:
    return next(iter(series.values())) if series else None


def _transport(data: Path, server: str | None) -> NetworkTransport:
    """To the server that was named, or to the one that says it serves the data folder."""
    if server is not None:
        return NetworkTransport(server, answer_timeout_s=_TIMEOUT_S)
    told = told_server(data)
    if told is None:
        raise Refusal(f"not ready: nobody serves {data}: start the service with `punctual up`")
    transport = NetworkTransport(told.url, answer_timeout_s=_TIMEOUT_S)
    try:
        is_there = serves_folder(transport, told)
    except NoAnswer as lost:
        raise _away(lost) from lost
    if not is_there:
        transport.close()
        raise Refusal(f"not ready: nobody serves {data} any more: start it with `punctual up`")
    return transport


def _read(transport: NetworkTransport, path: str, *statuses: int) -> Answer:
    try:
        answer = transport.send("GET", path, body=None, headers={})
    except NoAnswer as lost:
        raise _away(lost) from lost
    if answer.status not in statuses:
        raise Refusal(f"not ready: {path} answered {answer.status}: check --server")
    return answer


def _away(lost: NoAnswer) -> Refusal:
    return Refusal(
        f"not ready: the server does not answer ({lost}): start it with `punctual up`, or name "
        "another with --server"
    )


def _print(ready: Any, signals: Signals) -> None:
    say("Ready." if ready["ready"] else "Not ready.")
    say()
    rows = [
        (
            each["name"],
            Cell(*(("ok", "green") if each["ok"] else ("failed", "red"))),
            each["detail"],
        )
        for each in ready["checks"]
    ]
    print_table(_CHECKS, rows)
    say()
    for line in _lines(signals):
        say(line)


def _lines(signals: Signals) -> list[str]:
    age, lag = signals.oldest_due_age_s, signals.relay_lag_s
    if age is None:
        return ["The store does not say what is due and what waits."]
    waiting = sum(signals.backlog.values())
    lanes = ", ".join(f"{lane} {count:,}" for lane, count in signals.backlog.items() if count)
    quarantined = signals.quarantined or 0
    lines = [
        f"Oldest due and not sent: {_span(age) if age else 'none'}",
        f"Backlog: {count_text(waiting, 'fire')}{f' ({lanes})' if lanes else ''}",
        f"Quarantined: {count_text(quarantined, 'trigger')}"
        + ("; see `punctual triggers --state quarantined`" if quarantined else ""),
    ]
    if lag is not None:
        lines.append(
            f"Events not published yet: {f'the oldest {_span(lag)} old' if lag else 'none'}"
        )
    return lines


def _span(seconds: float) -> str:
    return span_text(round(seconds * SECOND_US))
