"""Static checks of Python code: whether it parses, and uses only what the sandbox supports."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Collection
from typing import Final

MAX_CODE: Final = 64 * 1024
"""Bytes of code."""
_NAMED: Final = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)
_BUILTIN: Final = frozenset(dir(builtins))


class BadCode(Exception):
    """`line` counts from 1, and is 0 if unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def parse(code: str) -> ast.Module:
    """Raises `BadCode` if it does not parse, or imports something."""
    size = len(code.encode(errors="replace"))
    if size > MAX_CODE:
        raise BadCode(f"the code has {size:,} bytes, limit {MAX_CODE:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings
            tree = ast.parse(code)
    except SyntaxError as error:
        raise BadCode(error.msg, error.lineno or 0) from None
    except (ValueError, RecursionError, MemoryError):
        raise BadCode("the code is nested too deeply, or holds characters that no code has") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            raise BadCode("the sandbox has no imports", node.lineno)
    return tree


def check_function(code: str, name: str, arguments: int) -> None:
    """Raises `BadCode` unless the code defines a function that takes this number of arguments."""
    found = [each for each in parse(code).body if isinstance(each, ast.FunctionDef) and each.name == name]
    if not found:
        raise BadCode(f"the code defines no function `{name}`")
    taken = found[-1].args
    most = len(taken.posonlyargs) + len(taken.args)
    least = most - len(taken.defaults)
    if taken.vararg is None and not least <= arguments <= most:
        raise BadCode(f"`{name}` must take {arguments} arguments", found[-1].lineno)


def unknown_name(tree: ast.Module, known: Collection[str]) -> tuple[str, int] | None:
    """The first undefined name, and its line."""
    nodes = list(ast.walk(tree))
    names = [each for each in nodes if isinstance(each, ast.Name)]
    bound = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    bound |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    bound |= {
        each.name for each in nodes if isinstance(each, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler) if each.name
    }
    unknown = [each for each in names if each.id not in bound and each.id not in known and each.id not in _BUILTIN]
    first = min(unknown, key=lambda each: (each.lineno, each.col_offset), default=None)
    return None if first is None else (first.id, first.lineno)
