"""A refused call of `apply`, which must leave the store as it was."""

import pytest

from ports.changes import Change, IdempotentRequest
from ports.errors import ChangeProblem, ChangeRefused
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank


def refusal_of(
    crank: HandCrank,
    peek: StorePeek,
    *changes: Change,
    request: IdempotentRequest | None = None,
) -> ChangeProblem:
    """The one problem."""
    before = peek.content()
    with pytest.raises(ChangeRefused) as caught:
        crank.store.registry.apply(changes, now_us=crank.now_us, actor=ACTOR, request=request)
    assert peek.content() == before
    (problem,) = caught.value.details
    return problem
