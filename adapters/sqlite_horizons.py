"""The catch-up horizon that holds for a trigger's name, also over its deletion."""

import sqlite3
from collections.abc import Mapping
from typing import Final

from ports.records import HeldHorizon
from scheduling.keys import trigger_id_of
from scheduling.limits import HORIZON_S_DEFAULT
from scheduling.vocabulary import TriggerState

HORIZON_SOURCE_DEFAULT: Final = "default"


def held_horizon(
    connection: sqlite3.Connection, sql: Mapping[str, str], tenant_id: str, name: str
) -> HeldHorizon:
    """See the registry's port. The last trigger of a name has the highest generation."""
    (count,) = connection.execute(sql["registry_generation"], (tenant_id, name)).fetchone()
    if count:
        trigger_id = trigger_id_of(tenant_id, name, generation=count - 1)
        state, horizon_s, source = connection.execute(
            sql["registry_horizon"], (tenant_id, trigger_id)
        ).fetchone()
        if TriggerState(state) is not TriggerState.DELETED or horizon_s < HORIZON_S_DEFAULT:
            return HeldHorizon(horizon_s, source)
    return HeldHorizon(HORIZON_S_DEFAULT, HORIZON_SOURCE_DEFAULT)
