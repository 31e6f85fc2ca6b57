"""What is declared in one place and must be used in another: log actions, statements, limits.

Each rule takes the declaring text and the product's other modules, and names what none uses.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Final

LOG_CALLS: Final = frozenset({"debug", "info", "warning", "error"})


def unlogged_actions(declared: str, modules: Iterable[str]) -> list[str]:
    """Words of the Literals in `declared` that no call of a log function begins with."""
    words = [
        constant.value
        for node in ast.walk(ast.parse(declared))
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal")
        for constant in ast.walk(node.slice)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    ]
    return _unused(words, modules, _logged)


def unused_statements(names: Iterable[str], modules: Iterable[str]) -> list[str]:
    """Named statements whose name no module holds as a text of its own."""
    return _unused(names, modules, _texts)


def unused_constants(declared: str, modules: Iterable[str]) -> list[str]:
    """Upper-case names of `declared` that no module reads; an import alone is no use."""
    names = [
        target.id
        for node in ast.parse(declared).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id.isupper()
    ]
    return _unused(names, modules, _names_read)


def _unused(
    words: Iterable[str], modules: Iterable[str], used_in: Callable[[ast.AST], Iterator[object]]
) -> list[str]:
    used = {
        word for text in modules for node in ast.walk(ast.parse(text)) for word in used_in(node)
    }
    return [word for word in words if word not in used]


def _logged(node: ast.AST) -> Iterator[object]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr in LOG_CALLS and node.args:
        yield from (each for part in ast.walk(node.args[0]) for each in _texts(part))


def _texts(node: ast.AST) -> Iterator[object]:
    if isinstance(node, ast.Constant):
        yield node.value


def _names_read(node: ast.AST) -> Iterator[object]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
