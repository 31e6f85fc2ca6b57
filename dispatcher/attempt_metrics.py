"""What is counted of every attempt that was made."""

from dispatcher.http_delivery import DeliveryResult
from ports import metrics
from ports.records import ClaimedFire
from scheduling.instants import SECOND_US


def count_attempt(fire: ClaimedFire, result: DeliveryResult, started_us: int) -> None:
    """The attempt by class of answer, and how late the first one of a fire began."""
    status = result.http_status
    metrics.count(
        "punctual_attempts_total",
        lane=fire.lane.value,
        target_class="http",
        result=result.transport_result.value if status is None else f"{status // 100}xx",
    )
    if fire.n == 1:
        late_s = (started_us - fire.due_us) / SECOND_US
        metrics.record("punctual_lateness_seconds", late_s, lane=fire.lane.value)
