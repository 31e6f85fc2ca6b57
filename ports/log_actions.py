"""Every log line names its action, from this closed list, in the key `action`."""

from typing import Literal

import structlog

LogAction = Literal[
    "attempts_put_back",  # this process could not make them: files, memory, ports, name servers
    "attempts_store_unavailable",  # results wait in memory until the store is back
    "clock_bad",  # epsilon over the bound: no decisions, leases given up
    "clock_ok",  # decisions go on
    "clock_stepped",  # wall time moved against boot time: no decisions for ten seconds
    "commit_fenced",  # another owner holds the partition; nothing was written
    "cursor_ahead",  # decided instants lie ahead of the clock: silent until then
    "delivery_failed",  # a fault of the dispatcher itself
    "dispatcher_started",
    "dispatcher_drained",
    "dispatcher_store_unavailable",
    "fire_finished",  # one attempt ended
    "lease_lost",
    "leases_acquired",
    "leases_released",
    "manifest_applied",
    "manifest_refused",
    "ownership_check_failed",  # a fault of the checks themselves; targets stay as they are
    "ownership_checked",  # a host was asked again whose it is
    "payload_unreadable",  # a fire was cancelled: its tenant's payload key is gone
    "relay_failed",  # a fault of the relay itself; decisions and deliveries go on
    "relay_left_behind",  # it hung when the service ended; what it held is published again
    "relay_store_unavailable",  # events wait in the store until it is back
    "relay_started",
    "relay_stopped",
    "repair_planned",  # a slice of a gap became held fires
    "repair_released",  # held catch-up fires became ready
    "server_registered",  # the data folder names this process to its commands
    "server_registration_failed",  # commands bring the API along; the service goes on
    "service_started",
    "service_stopping",
    "service_stopped",
    "store_unavailable",  # nothing is decided and nothing lost until it is back
    "tenants_held_back",  # their attempts under way leave the others too little room
    "trigger_quarantined",
    "tzdata_mismatch",  # this process must not decide
]

_log = structlog.get_logger("punctual")


def debug(action: LogAction, **facts: object) -> None:
    """For what happens with every fire."""
    _log.debug(action, action=action, **facts)


def info(action: LogAction, **facts: object) -> None:
    """For what an operator wants to read."""
    _log.info(action, action=action, **facts)


def warning(action: LogAction, **facts: object) -> None:
    """For what repairs itself but should not happen often."""
    _log.warning(action, action=action, **facts)


def error(action: LogAction, **facts: object) -> None:
    """For what needs a person."""
    _log.error(action, action=action, **facts)
