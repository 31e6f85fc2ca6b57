"""Requests that may be repeated: the results of each are kept, in the transaction it made.

All functions run inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ports.changes import ChangeKind, ChangeResult, IdempotentRequest
from ports.errors import ChangeProblem, ChangeRefused, ProblemKind
from scheduling.keys import FireKey
from scheduling.limits import IDEMPOTENCY_KEPT_US, IDEMPOTENCY_SWEEP_ROWS_MAX


def find_results(
    connection: sqlite3.Connection,
    sql: Mapping[str, str],
    request: IdempotentRequest,
    *,
    now_us: int,
) -> list[ChangeResult] | None:
    """What an equal request brought, marked as replayed; None when there was none.

    ChangeRefused when the key came with another request.
    """
    key = (request.principal_id, request.key)
    found = connection.execute(
        sql["idempotency_find"], (*key, now_us - IDEMPOTENCY_KEPT_US)
    ).fetchone()
    if found is None:
        return None
    fingerprint, results = found
    if fingerprint != request.fingerprint:
        text = (
            "Idempotency-Key: it came with another request within the last day: send a new key "
            "with a new request"
        )
        raise ChangeRefused((ChangeProblem(text, ProblemKind.KEY_REUSED, "Idempotency-Key"),))
    return [replace(_result_of(facts), replayed=True) for facts in json.loads(results)]


def keep_results(
    connection: sqlite3.Connection,
    sql: Mapping[str, str],
    request: IdempotentRequest,
    *,
    results: Sequence[ChangeResult],
    now_us: int,
) -> None:
    """Remember them for a day; a bounded number of what is older is forgotten beside."""
    expired = (now_us - IDEMPOTENCY_KEPT_US, IDEMPOTENCY_SWEEP_ROWS_MAX)
    connection.execute(sql["idempotency_forget"], expired)
    text = json.dumps([_facts_of(result) for result in results], separators=(",", ":"))
    connection.execute(
        sql["idempotency_keep"],
        (request.principal_id, request.key, request.fingerprint, text, now_us),
    )


def _facts_of(result: ChangeResult) -> dict[str, Any]:
    facts = {field.name: getattr(result, field.name) for field in fields(ChangeResult)}
    return {name: value for name, value in facts.items() if value is not None}


def _result_of(facts: dict[str, Any]) -> ChangeResult:
    key = facts.pop("fire_key", None)
    kind = ChangeKind(facts.pop("kind"))
    return ChangeResult(**facts, kind=kind, fire_key=None if key is None else FireKey(*key))
