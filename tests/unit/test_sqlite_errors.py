"""SQLite's result codes and the port's errors."""

import pickle
import sqlite3

import pytest

from adapters.sqlite_database import translate
from ports.errors import (
    ChangeRefused,
    PayloadUnreadable,
    PortError,
    SchemaTooNew,
    StoreConflict,
    StoreCorrupt,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
    TzdataMismatch,
)

KINDS: dict[str, type[PortError]] = {
    "ABORT": StoreConflict,
    "AUTH": StoreRefused,
    "BUSY": StoreUnavailable,
    "CANTOPEN": StoreRefused,
    "CONSTRAINT": StoreConflict,
    "CORRUPT": StoreCorrupt,
    "FULL": StoreFull,
    "INTERRUPT": StoreUnavailable,
    "IOERR": StoreUnavailable,
    "LOCKED": StoreUnavailable,
    "MISMATCH": StoreConflict,
    "NOMEM": StoreUnavailable,
    "NOTADB": StoreRefused,
    "PERM": StoreRefused,
    "PROTOCOL": StoreUnavailable,
    "READONLY": StoreRefused,
    "SCHEMA": StoreUnavailable,
    "TOOBIG": StoreConflict,
}
# Bugs, ours or SQLite's, that say nothing about the store: try again, and read the text.
UNSPECIFIC = frozenset(
    {"EMPTY", "ERROR", "FORMAT", "INTERNAL", "MISUSE", "NOLFS", "NOTFOUND", "RANGE"}
)
NOT_ERRORS = frozenset({"OK", "ROW", "DONE", "NOTICE", "WARNING"})
# The module's other small numbers: what an authorizer is asked and answers.
AUTHORIZER = frozenset(
    {"ALTER_TABLE", "ANALYZE", "ATTACH", "DELETE", "DENY", "DETACH", "FUNCTION", "IGNORE"}
    | {"INSERT", "PRAGMA", "READ", "RECURSIVE", "REINDEX", "SAVEPOINT", "SELECT"}
    | {"TRANSACTION", "UPDATE"}
)
AUTHORIZER_VERBS = ("CREATE_", "DROP_")
OTHER_FAMILIES = ("LIMIT_", "DBCONFIG_")


def primary_codes() -> dict[str, int]:
    """The primary result codes that this Python's sqlite3 names."""
    codes = {
        name.removeprefix("SQLITE_"): value
        for name, value in vars(sqlite3).items()
        if name.startswith("SQLITE_") and isinstance(value, int) and 0 <= value <= 0xFF
    }
    return {
        name: value
        for name, value in codes.items()
        if name not in AUTHORIZER and not name.startswith(AUTHORIZER_VERBS + OTHER_FAMILIES)
    }


def extended_codes() -> dict[str, int]:
    return {
        name.removeprefix("SQLITE_"): value
        for name, value in vars(sqlite3).items()
        if name.startswith("SQLITE_") and isinstance(value, int) and value > 0xFF
    }


def error_of(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("vendor text")
    error.sqlite_errorcode = code
    return error


def test_every_primary_result_code_is_mapped_or_named_as_something_else() -> None:
    assert set(primary_codes()) == set(KINDS) | UNSPECIFIC | NOT_ERRORS


@pytest.mark.parametrize("name", KINDS)
def test_result_code_becomes_the_ports_error(name: str) -> None:
    error = translate(error_of(primary_codes()[name]))
    assert type(error) is KINDS[name]
    assert str(error).endswith("(vendor text)")
    assert not str(error).startswith("the store failed")


@pytest.mark.parametrize("name", sorted(UNSPECIFIC))
def test_unspecific_result_code_becomes_unavailable(name: str) -> None:
    error = translate(error_of(primary_codes()[name]))
    assert type(error) is StoreUnavailable
    assert str(error) == "the store failed (vendor text)"


@pytest.mark.parametrize("name", extended_codes())
def test_extended_result_code_is_judged_by_its_primary(name: str) -> None:
    code = extended_codes()[name]
    assert type(translate(error_of(code))) is type(translate(error_of(code & 0xFF)))


def test_error_without_a_result_code_becomes_unavailable() -> None:
    error = translate(sqlite3.ProgrammingError("Cannot operate on a closed database."))
    assert type(error) is StoreUnavailable


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("busy"),
        StoreRefused("read-only"),
        StoreCorrupt("damaged"),
        StoreConflict("unique"),
        SchemaTooNew(9, 1),
        TzdataMismatch("2026.1", "2025.2"),
        ChangeRefused(("name: is empty", "zone: is unknown")),
        PayloadUnreadable("gone"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_survives_pickling(error: PortError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), copy.args, vars(copy)) == (str(error), error.args, vars(error))
