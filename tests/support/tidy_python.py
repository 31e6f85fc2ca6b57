"""Tidy rules on the syntax of a Python file: lengths, docstrings, print, assertions, ports, SQL.

A rule takes a path and its text and yields complaints; where it does not apply it yields nothing.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

FILE_LINES_MAX: Final = 400
FUNCTION_LINES_MAX: Final = 70
PORT_METHODS_MAX: Final = 10
PRINTING_FOLDERS: Final = frozenset({"punctual", "bench"})
DOCUMENTED_FOLDERS: Final = frozenset({"ports", "scheduling"})
SQL_FOLDERS: Final = frozenset({"adapters", "dispatcher", "control_api", "punctual", "pipelines"})
LITERAL_FILES: Final = frozenset({"ports/log_actions.py", "ports/metric_names.py"})
SQL_CALLS: Final = frozenset(
    {"execute", "executemany", "executescript", "execute_sql", "execute_update"}
    | {"execute_partitioned_dml", "batch_update", "query"}
)
_ASSERTING_CALL: Final = re.compile(r"^_?(?:assert|check|expect)_|^fail$")
_ASSERTING_CONTEXT: Final = frozenset({"raises", "warns"})
_WORD: Final = re.compile(r"^[a-z][a-z0-9_.]*$")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def file_length(path: PurePosixPath, text: str) -> Iterator[str]:
    """A module has at most 400 lines; tests may be longer."""
    lines = text.count("\n")
    if path.suffix == ".py" and path.parts[0] != "tests" and lines > FILE_LINES_MAX:
        yield f"{path}: {lines} lines, at most {FILE_LINES_MAX}; split it"


def function_length(path: PurePosixPath, text: str) -> Iterator[str]:
    """A function has at most 70 lines, its docstring and decorators apart."""
    for node in _functions(path, text):
        first = node.body[1] if _has_docstring(node) and len(node.body) > 1 else node.body[0]
        lines = (node.end_lineno or node.lineno) - first.lineno + 2
        if lines > FUNCTION_LINES_MAX:
            yield f"{path}:{node.lineno}: {node.name} has {lines} lines, max {FUNCTION_LINES_MAX}"


def module_docstring(path: PurePosixPath, text: str) -> Iterator[str]:
    """A module that holds anything says what it is."""
    tree = _parse(path, text)
    if tree is not None and tree.body and ast.get_docstring(tree) is None:
        yield f"{path}:1: no module docstring"


def public_docstrings(path: PurePosixPath, text: str) -> Iterator[str]:
    """Public classes and functions of the rules and the ports say what they do.

    Enumerations are exempt: their members are the words. A port's methods carry its contract.
    """
    tree = _parse(path, text)
    if tree is None or path.parts[0] not in DOCUMENTED_FOLDERS:
        return
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or _is_overload(node) or _is_enumeration(node):
            continue
        if not _has_docstring(node):
            yield f"{path}:{node.lineno}: {node.name} has no docstring"
        for method in _abstract_methods(node):
            if not _has_docstring(method):
                yield f"{path}:{method.lineno}: {node.name}.{method.name} has no docstring"


def printing(path: PurePosixPath, text: str) -> Iterator[str]:
    """Only the command and the benches print."""
    tree = _parse(path, text)
    if tree is None or path.parts[0] in PRINTING_FOLDERS:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called_name(node) == "print":
            yield f"{path}:{node.lineno}: print; return the value or log it"


def test_assertions(path: PurePosixPath, text: str) -> Iterator[str]:
    """A test function asserts something that a reader can see, not a constant."""
    if path.parts[0] != "tests" or not path.name.startswith("test_"):
        return
    for node in _functions(path, text):
        if node.name.startswith("test_") and not any(map(_asserts, ast.walk(node))):
            yield f"{path}:{node.lineno}: {node.name} asserts nothing"


def port_size(path: PurePosixPath, text: str) -> Iterator[str]:
    """A port has at most ten methods to implement."""
    tree = _parse(path, text)
    if tree is None or path.parts[0] != "ports":
        return
    for node in tree.body:
        count = len(_abstract_methods(node))
        if isinstance(node, ast.ClassDef) and count > PORT_METHODS_MAX:
            yield f"{path}:{node.lineno}: {node.name} has {count} methods, max {PORT_METHODS_MAX}"


def literal_words(path: PurePosixPath, text: str) -> Iterator[str]:
    """The names of metrics and log actions are Literals of distinct lower-case words."""
    tree = _parse(path, text)
    if tree is None or str(path) not in LITERAL_FILES:
        return
    literals = [node for node in ast.walk(tree) if _is_literal(node)]
    if not literals:
        yield f"{path}: holds no Literal"
    words = [
        (constant.lineno, constant.value)
        for literal in literals
        for constant in ast.walk(literal)
        if isinstance(constant, ast.Constant)
    ]
    seen: set[object] = set()
    for line, word in words:
        if not isinstance(word, str) or not _WORD.match(word):
            yield f"{path}:{line}: {word!r} is not a lower-case word"
        elif word in seen:
            yield f"{path}:{line}: {word!r} stands twice"
        seen.add(word)


def joined_sql(path: PurePosixPath, text: str) -> Iterator[str]:
    """SQL comes from files: no statement is put together from strings where it is executed."""
    tree = _parse(path, text)
    if tree is None or path.parts[0] not in SQL_FOLDERS:
        return
    joined_names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_joined(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _called_name(node) not in SQL_CALLS:
            continue
        for argument in (*node.args[:1], *(word.value for word in node.keywords)):
            by_name = isinstance(argument, ast.Name) and argument.id in joined_names
            if by_name or _is_joined(argument):
                yield f"{path}:{node.lineno}: SQL joined from strings; name it in a .sql file"


@lru_cache(maxsize=1024)
def _parse(path: PurePosixPath, text: str) -> ast.Module | None:
    return ast.parse(text) if path.suffix == ".py" else None


def _functions(path: PurePosixPath, text: str) -> Iterator[FunctionNode]:
    tree = _parse(path, text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _has_docstring(node: ast.ClassDef | FunctionNode) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def _last_name(node: ast.expr) -> str:
    """`c` of `a.b.c`, of `c` and of `a.c[...]`; empty for anything else."""
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _called_name(node: ast.Call) -> str:
    return _last_name(node.func)


def _is_enumeration(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        _last_name(base).endswith(("Enum", "Flag")) for base in node.bases
    )


def _is_overload(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
        _last_name(decorator) == "overload" for decorator in node.decorator_list
    )


def _abstract_methods(node: ast.stmt) -> list[FunctionNode]:
    return [
        method
        for method in (node.body if isinstance(node, ast.ClassDef) else ())
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(_last_name(decorator) == "abstractmethod" for decorator in method.decorator_list)
    ]


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if isinstance(node, ast.Call):
        name = _called_name(node)
        return name in _ASSERTING_CONTEXT or _ASSERTING_CALL.match(name) is not None
    return False


def _is_literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and _last_name(node.value) == "Literal"


def _is_joined(node: ast.AST) -> bool:
    """Whether an expression puts a text together: f-string, `+`, `%`, .format, .join, .replace.

    A pragma is exempt: SQLite takes no parameters there.
    """
    if isinstance(node, ast.JoinedStr):
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and str(first.value).startswith("PRAGMA "):
            return False
        return any(isinstance(part, ast.FormattedValue) for part in node.values)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod)
    return isinstance(node, ast.Call) and _called_name(node) in {"format", "join", "replace"}
