"""A trigger's row as readers see it: the columns of every statement that lists triggers."""

from typing import Any

from ports.records import TriggerRecord
from scheduling.vocabulary import TriggerState


def trigger_record(row: tuple[Any, ...]) -> TriggerRecord:
    """The trigger with where its decisions stand, in the order in which they are selected."""
    return TriggerRecord(
        tenant_id=row[0],
        trigger_id=row[1],
        name=row[2],
        state=TriggerState(row[3]),
        version=row[4],
        revision=row[5],
        partition_id=row[6],
        pause_note=row[7],
        quarantine_error=row[8],
        decided_through_us=row[9],
        next_due_us=row[10],
        fired_count=row[11],
        created_us=row[12],
    )
