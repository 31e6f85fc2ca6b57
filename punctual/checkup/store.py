"""The store, looked at as it is: a check must not bring an older schema up to date."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.sqlite_database import migrations
from adapters.sqlite_inspection import Owner, SqliteInspection
from control_api.answers.zone_times import span_text, utc_text
from ports.errors import PayloadUnreadable, PortError
from punctual.checkup.finding import Finding, fail, fine, warn
from punctual.data_folder import KEYS_FOLDER
from scheduling import tzdata_version
from scheduling.instants import SECOND_US

TENANTS_TRIED_MAX: Final = 10_000
_SHOWN_MAX: Final = 3
_OUTBOX_LAG_US: Final = 60 * SECOND_US


def check_schema(look: SqliteInspection) -> Finding:
    found, known = look.schema_version(), len(migrations())
    if found > known:
        remedy = "upgrade punctual: this one will not touch it"
        return fail("schema", f"version {found}, this program knows up to {known}", remedy)
    if found == 0:
        return fail("schema", "the file is not a punctual store", "name the right folder")
    if found < known:
        return warn(
            "schema",
            f"version {found}; the next start brings it to {known}",
            "take a backup first: there is no way back but that",
        )
    return fine("schema", f"version {found}")


def check_integrity(look: SqliteInspection, *, limit_s: float) -> Finding:
    """Every page, as far as the time reaches."""
    problems = look.quick_check(limit_s=limit_s)
    if problems is None:
        return warn(
            "integrity",
            f"not checked to the end within {limit_s:g} s",
            "give --check-s more, or take a backup, which checks all of its copy",
        )
    if problems:
        return fail("integrity", "; ".join(problems), "restore a backup")
    return fine("integrity", "no damage found")


def check_tzdata(look: SqliteInspection) -> Finding:
    pinned, installed = look.pinned_tzdata(), tzdata_version()
    if pinned is None:
        return fine("tzdata", f"{installed}, pinned at the first start")
    if pinned != installed:
        return fail(
            "tzdata",
            f"the store is pinned to {pinned}, this program has {installed}: it must not decide",
            "install the pinned version, or run `punctual tzdata adopt`",
        )
    return fine("tzdata", f"{installed}, as pinned")


def check_keys(look: SqliteInspection, data: Path) -> Finding:
    """Each tenant's key, tried on something that it sealed."""
    sealed = look.sealed(limit=TENANTS_TRIED_MAX)
    if not sealed:
        return fine("payload keys", "nothing is sealed yet")
    if not (data / KEYS_FOLDER).is_dir():
        remedy = "restore the folder from a backup, or apply the tenants' manifests again"
        return fail("payload keys", f"all are gone, of {_count(len(sealed), 'tenant')}", remedy)
    keys = TinkPayloadKeys(data / KEYS_FOLDER)
    unreadable = []
    for each in sealed:
        try:
            keys.open(each.tenant_id, each.sealed, context=each.payload_ref)
        except (PayloadUnreadable, PortError):
            unreadable.append(each.tenant_id)
    if unreadable:
        return fail(
            "payload keys",
            f"cannot be read for {_some(unreadable)}",
            "restore them from a backup; if they were deleted on purpose, apply the manifest of "
            "each tenant that goes on",
        )
    return fine("payload keys", f"readable for {_count(len(sealed), 'tenant')}")


def check_leases(owners: list[Owner], *, is_open: bool, now_us: int) -> Finding:
    """Whether somebody decides. is_open: any process has the store open; a lease alone lasts
    longer than its owner, and is copied with the folder."""
    alive = [owner for owner in owners if owner.is_alive(now_us)]
    held = sum(owner.partitions for owner in alive)
    if not alive:
        return warn("leases", "nobody decides", "start `punctual up`")
    names = ", ".join(owner.owner_id for owner in alive)
    if not is_open:
        left_us = max(owner.expires_us for owner in alive) - now_us
        return warn(
            "leases",
            f"nobody has this store open: {names} died, or works on the folder that this one is a "
            "copy of",
            f"if this is a copy, end that one first; then start `punctual up`: it decides in "
            f"{_age_text(0, left_us + SECOND_US)}",
        )
    if held < sum(owner.partitions for owner in owners):
        remedy = "wait for a minute; if it stays, look at the log of the service"
        return warn("leases", f"{names} decide {held} partitions, others have died", remedy)
    return fine("leases", f"{_count(held, 'partition')} decided by {names}")


def check_triggers(look: SqliteInspection, *, now_us: int) -> Iterator[Finding]:
    """What stands still, and why nobody may have noticed."""
    quarantined = look.quarantined(limit=1_000)
    if quarantined:
        names = [f"{tenant}/{name}" for tenant, name in quarantined]
        remedy = f"`punctual why {names[0]}` says why; mend it, then `punctual resume`"
        yield warn("quarantine", _some(names), remedy)
    else:
        yield fine("quarantine", "no trigger")
    ahead, last_us = look.decided_ahead(now_us)
    if ahead and last_us is not None:
        yield warn(
            "cursors",
            f"{_count(ahead, 'trigger')} silent until {utc_text(last_us)} at the latest: decided "
            "by a clock that ran ahead",
            "see that the clock is right; then wait, or edit what cannot wait",
        )
    else:
        yield fine("cursors", "none ahead of the clock")


def check_queues(look: SqliteInspection, *, now_us: int) -> Iterator[Finding]:
    """What waits for somebody."""
    letters, oldest_us = look.dead_letters()
    if letters and oldest_us is not None:
        found = f"{letters:,}, the oldest {_age_text(oldest_us, now_us)} old"
        yield warn("dead letters", found, "read them in the store's table dead_letter")
    else:
        yield fine("dead letters", "none")
    events, oldest_us = look.outbox()
    if events and oldest_us is not None and now_us - oldest_us > _OUTBOX_LAG_US:
        found = f"{_count(events, 'event')} wait, the oldest for {_age_text(oldest_us, now_us)}"
        yield warn("outbox", found, "the relay inside `punctual up` publishes them: is it running?")
    else:
        yield fine("outbox", f"{_count(events, 'event')} wait" if events else "empty")


def _some(names: list[str]) -> str:
    more = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _age_text(since_us: int, now_us: int) -> str:
    """In whole seconds."""
    return span_text(max(now_us - since_us, 0) // SECOND_US * SECOND_US)


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
