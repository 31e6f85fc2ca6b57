"""Requests that may be repeated: the results of each are kept, in the transaction it made.

All functions run inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Final

from adapters.request_digests import Marks, is_same, marks_of
from adapters.sqlite_context import SqliteContext
from ports.changes import Change, ChangeKind, ChangeResult, IdempotentRequest
from ports.errors import ChangeProblem, ChangeRefused, PayloadUnreadable, ProblemKind
from ports.records import TargetRecord, TenantRecord
from scheduling.keys import FireKey
from scheduling.limits import IDEMPOTENCY_KEPT_US, IDEMPOTENCY_SWEEP_ROWS_MAX
from scheduling.vocabulary import OwnershipState

_OTHER: Final = "it came with another request within the last day"
_UNCLEAR: Final = (
    "it came within the last day, and the payload key is deleted by which its request would be "
    "recognised"
)


def find_results(
    connection: sqlite3.Connection,
    context: SqliteContext,
    request: IdempotentRequest,
    *,
    now_us: int,
) -> list[ChangeResult] | None:
    """What an equal request brought, marked as replayed; None when there was none.

    ChangeRefused when the key came with another request, or with one that nobody can tell from it.
    """
    key = (request.principal_id, request.key)
    found = connection.execute(
        context.sql["idempotency_find"], (*key, now_us - IDEMPOTENCY_KEPT_US)
    ).fetchone()
    if found is None:
        return None
    digest, shares, results = found
    try:
        is_repeat = is_same(context.payload_keys, request, Marks(digest, shares))
    except PayloadUnreadable:
        raise _reused(_UNCLEAR) from None
    if not is_repeat:
        raise _reused(_OTHER)
    return [replace(_result_of(facts), replayed=True) for facts in json.loads(results)]


def keep_results(
    connection: sqlite3.Connection,
    context: SqliteContext,
    request: IdempotentRequest,
    *,
    changes: Sequence[Change],
    results: Sequence[ChangeResult],
    now_us: int,
) -> None:
    """Remember them for a day; a bounded number of what is older is forgotten beside."""
    expired = (now_us - IDEMPOTENCY_KEPT_US, IDEMPOTENCY_SWEEP_ROWS_MAX)
    connection.execute(context.sql["idempotency_forget"], expired)
    text = json.dumps([_facts_of(result) for result in results], separators=(",", ":"))
    marks = marks_of(context.payload_keys, request, changes)
    connection.execute(
        context.sql["idempotency_keep"],
        (request.principal_id, request.key, *marks, text, now_us),
    )


def _reused(what: str) -> ChangeRefused:
    text = f"Idempotency-Key: {what}: send a new key with a new request"
    return ChangeRefused((ChangeProblem(text, ProblemKind.KEY_REUSED, "Idempotency-Key"),))


def _facts_of(result: ChangeResult) -> dict[str, Any]:
    facts = {field.name: getattr(result, field.name) for field in fields(ChangeResult)}
    if result.left is not None:
        told = asdict(result.left).items()
        facts["left"] = {name: value for name, value in told if value is not None}
    return {name: value for name, value in facts.items() if value is not None}


def _result_of(facts: dict[str, Any]) -> ChangeResult:
    key, left = facts.pop("fire_key", None), facts.pop("left", None)
    kind = ChangeKind(facts.pop("kind"))
    return ChangeResult(
        **facts,
        kind=kind,
        fire_key=None if key is None else FireKey(*key),
        left=None if left is None else _left_of(left),
    )


def _left_of(facts: dict[str, Any]) -> TenantRecord | TargetRecord:
    if "target_id" not in facts:
        return TenantRecord(**facts)
    return TargetRecord(**(facts | {"ownership": OwnershipState(facts["ownership"])}))
