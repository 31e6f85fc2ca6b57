"""How many tries a fire shows is how many were claimed; what was never tried is not among them."""

from collections import Counter

from adapters.sqlite_database import SqliteDatabase
from adapters.store_sqlite_history import SqliteHistory
from control_api.answers.fire_rows import fire_out
from scheduling.keys import FireKey
from scheduling.vocabulary import TransportResult
from tests.sim.evidence import Evidence, fire_key

Try = tuple[FireKey, int]


def check(evidence: Evidence) -> list[str]:
    """As the API shows every fire, by the attempts' rows and by the claims that were served."""
    rows = {(fire_key(attempt), attempt["n"]) for attempt in evidence.tables["attempt"]}
    claimed = {
        (fire.key, fire.n)
        for call in evidence.calls
        if call.name == "ledger.claim"
        for fire in call.result
    }
    counts = Counter(key for key, _ in rows)
    problems = [
        f"{shown} tries shown, {counts[key]} made: {key}"
        for key, shown in _shown(evidence).items()
        if shown != counts[key]
    ]
    problems += [f"a try that nobody claimed: {key} {n}" for key, n in rows - claimed]
    lost = claimed - rows - _untried(evidence)
    return problems + [f"claimed, tried and not counted: {key} {n}" for key, n in lost]


def _shown(evidence: Evidence) -> dict[FireKey, int]:
    """The tries of every fire, as the API tells them."""
    database = SqliteDatabase(evidence.path, synchronous="OFF")
    try:
        history = SqliteHistory(database)
        records = [history.fire(fire_key(row)) for row in evidence.tables["fire"]]
    finally:
        database.close()
    return {each.key: fire_out(each, "UTC", ()).attempts for each in records if each is not None}


def _untried(evidence: Evidence) -> set[Try]:
    """The attempts of which a dispatcher said that it could not make them."""
    return {
        (request.key, request.n)
        for call in evidence.calls
        if call.name == "ledger.finish"
        for request in call.arguments["args"][0]
        if request.result.transport_result is TransportResult.UNTRIED
    }
