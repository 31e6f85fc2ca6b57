"""The catch-up horizon that a definition gets: whoever edits a trigger cannot extend it."""

from control_api.call import Call
from ports.principals import GrantKind
from ports.records import TriggerDefinition
from scheduling.limits import HORIZON_S_DEFAULT
from schemas.manifest import TriggerSpec


def wanted_horizon(
    call: Call, tenant_id: str, body: TriggerSpec, current: TriggerDefinition | None
) -> tuple[int, str]:
    """(seconds, who chose it); as it is where the body leaves it open.

    Beyond the default and beyond what the trigger has it needs the grant `policy`.
    """
    before_s, source = HORIZON_S_DEFAULT, "default"
    if current is not None:
        before_s, source = current.catchup_horizon_s, current.horizon_source
    if body.horizon_s is None or body.horizon_s == before_s:
        return before_s, source
    if body.horizon_s > max(before_s, HORIZON_S_DEFAULT):
        call.require(GrantKind.POLICY, tenant_id, act="extend a horizon")
    return body.horizon_s, f"chosen by {call.principal.principal_id}"
