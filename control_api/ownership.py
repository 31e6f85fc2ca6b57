"""Whether a target's host is its tenant's: the check, what follows from it, and when to repeat it.

A proof holds for 30 days. From the 27th on the host is asked once a day, so that it has three days
to mend before its targets lapse; a lapsed one is asked on, and recovers by itself. A target that
was never proven is asked when its author says so, not on our own account.
"""

from collections.abc import Callable
from typing import NamedTuple

from control_api.ownership_text import ownership_text
from ports.changes import IdempotentRequest, RecordOwnership
from ports.ownership import OwnershipAnswer, OwnershipPort
from ports.records import TargetRecord
from ports.registry import RegistryPort
from scheduling.instants import SECOND_US
from scheduling.limits import (
    OWNERSHIP_LAPSES_AFTER_S,
    OWNERSHIP_RECHECK_AFTER_S,
    OWNERSHIP_RECHECK_EVERY_S,
)
from scheduling.vocabulary import OwnershipState


class CheckedTarget(NamedTuple):
    """One check; `ownership` is the target's state after it, `detail` is for its author.

    replayed:  an earlier request with the same idempotency key recorded its own
    """

    tenant_id: str
    target_id: str
    is_proven: bool
    ownership: OwnershipState
    detail: str
    replayed: bool = False


def due_for_check(target: TargetRecord, now_us: int) -> bool:
    """Whether the host is to be asked again by now."""
    if target.ownership not in (OwnershipState.PROVEN, OwnershipState.LAPSED):
        return False
    if target.verified_us is None:
        return True
    proof_age_us = now_us - target.verified_us
    asked_age_us = now_us - max(target.checked_us or 0, target.verified_us)
    return (
        proof_age_us >= OWNERSHIP_RECHECK_AFTER_S * SECOND_US
        and asked_age_us >= OWNERSHIP_RECHECK_EVERY_S * SECOND_US
    )


def next_state(target: TargetRecord, is_proven: bool, *, now_us: int) -> OwnershipState:
    """The state after a check. What rests on an operator's word or on loopback needs no proof."""
    if target.ownership in (OwnershipState.ALLOWED, OwnershipState.LOCAL):
        return target.ownership
    if is_proven:
        return OwnershipState.PROVEN
    if target.ownership is OwnershipState.PROVEN and _has_lapsed(target, now_us):
        return OwnershipState.LAPSED
    return target.ownership


def check_target(
    registry: RegistryPort,
    ownership: OwnershipPort,
    *,
    target: TargetRecord,
    now_us: int,
    actor: str,
    request: IdempotentRequest | None = None,
) -> CheckedTarget:
    """Ask the host and record what came of it. Takes up to ten seconds.

    Where no proof is needed nobody is asked and nothing recorded. Raises the store's errors.
    """
    if target.ownership is OwnershipState.ALLOWED:
        return _unasked(target, "an operator vouches for the host: there is nothing to prove")
    if target.ownership is OwnershipState.LOCAL:
        return _unasked(target, "the target is on this machine: there is nothing to prove")
    answer = _ask(ownership, target)
    return _record(registry, target, answer, now_us=now_us, actor=actor, request=request)


def recheck_all(
    registry: RegistryPort,
    ownership: OwnershipPort,
    *,
    now_us: int,
    actor: str,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[CheckedTarget]:
    """Check every target that is due, one after the other, and the same text only once.

    A target that was moved or deleted meanwhile is left alone. Raises the store's errors; what was
    not reached is due at the next call.
    """
    answers: dict[str, OwnershipAnswer] = {}
    checked: list[CheckedTarget] = []
    for target in registry.targets():
        if not due_for_check(target, now_us):
            continue
        if should_stop():
            break
        text = ownership_text(target.tenant_id, target.endpoint)
        if text not in answers:
            answers[text] = _ask(ownership, target)
        checked.append(_record(registry, target, answers[text], now_us=now_us, actor=actor))
    return checked


def _has_lapsed(target: TargetRecord, now_us: int) -> bool:
    if target.verified_us is None:
        return True
    return now_us - target.verified_us >= OWNERSHIP_LAPSES_AFTER_S * SECOND_US


def _ask(ownership: OwnershipPort, target: TargetRecord) -> OwnershipAnswer:
    expected = ownership_text(target.tenant_id, target.endpoint)
    return ownership.check(target.endpoint, expected=expected)


def _record(
    registry: RegistryPort,
    target: TargetRecord,
    answer: OwnershipAnswer,
    *,
    now_us: int,
    actor: str,
    request: IdempotentRequest | None = None,
) -> CheckedTarget:
    state = next_state(target, answer.is_proven, now_us=now_us)
    change = RecordOwnership(
        tenant_id=target.tenant_id,
        target_id=target.target_id,
        endpoint=target.endpoint,
        # The state as it was would count as a new proof.
        ownership=state if answer.is_proven or state is not target.ownership else None,
        detail=answer.detail,
    )
    (result,) = registry.apply([change], now_us=now_us, actor=actor, request=request)
    return CheckedTarget(
        target.tenant_id,
        target.target_id,
        answer.is_proven,
        state,
        answer.detail,
        replayed=result.replayed,
    )


def _unasked(target: TargetRecord, detail: str) -> CheckedTarget:
    return CheckedTarget(target.tenant_id, target.target_id, True, target.ownership, detail)
