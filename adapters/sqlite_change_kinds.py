"""Every kind of change and the function that works it, inside the caller's transaction."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from adapters.sqlite_calendars import delete_calendar, put_calendar
from adapters.sqlite_change_session import ChangeSession
from adapters.sqlite_definition_changes import put_trigger, set_horizon
from adapters.sqlite_host_changes import allow_host, disallow_host
from adapters.sqlite_principal_changes import add_grant, create_token, remove_grant, revoke_token
from adapters.sqlite_runs import cancel_fire, run_trigger
from adapters.sqlite_target_changes import delete_target, put_target, record_ownership
from adapters.sqlite_tenant_changes import delete_payload_key, put_tenant
from adapters.sqlite_trigger_changes import delete_trigger, pause_trigger, resume_trigger
from ports import changes
from ports.changes import Change, ChangeResult

# Any: each function takes the kind that it stands beside.
_KINDS: Final[Mapping[type, Callable[[ChangeSession, Any], ChangeResult]]] = {
    changes.PutTenant: put_tenant,
    changes.DeletePayloadKey: delete_payload_key,
    changes.PutTarget: put_target,
    changes.DeleteTarget: delete_target,
    changes.RecordOwnership: record_ownership,
    changes.AllowHost: allow_host,
    changes.DisallowHost: disallow_host,
    changes.PutCalendar: put_calendar,
    changes.DeleteCalendar: delete_calendar,
    changes.PutTrigger: put_trigger,
    changes.SetHorizon: set_horizon,
    changes.PauseTrigger: pause_trigger,
    changes.ResumeTrigger: resume_trigger,
    changes.DeleteTrigger: delete_trigger,
    changes.RunTrigger: run_trigger,
    changes.CancelFire: cancel_fire,
    changes.CreateToken: create_token,
    changes.RevokeToken: revoke_token,
    changes.AddGrant: add_grant,
    changes.RemoveGrant: remove_grant,
}


def apply_change(session: ChangeSession, change: Change) -> ChangeResult:
    """Make one change; Refused with its problems."""
    return _KINDS[type(change)](session, change)
