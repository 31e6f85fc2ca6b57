"""Tenants and their calendars as they are stored."""

import json
from typing import Any

from ports.records import CalendarRecord, TenantRecord


def tenant_record(row: tuple[Any, ...]) -> TenantRecord:
    """A row of `registry_tenant`."""
    return TenantRecord(
        tenant_id=row[0],
        quota_triggers=row[1],
        quota_dispatch_per_s=row[2],
        quota_inflight=row[3],
        catchup_rate_pct=row[4],
        smear_s=row[5],
        revision=row[6],
    )


def calendar_record(tenant_id: str, row: tuple[Any, ...]) -> CalendarRecord:
    """A row of `calendar_all`."""
    calendar_id, rules, own_dates, dates, revision = row
    return CalendarRecord(
        tenant_id,
        calendar_id,
        rules=tuple(json.loads(rules)),
        dates=tuple(json.loads(dates)),
        own_dates=tuple(json.loads(own_dates)),
        revision=revision,
    )
