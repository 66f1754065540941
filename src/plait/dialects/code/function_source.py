"""Facts about functions, read from their source: the names they call and bind, and the roles of inner functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

Function = ast.FunctionDef | ast.AsyncFunctionDef
Callable = Function | ast.Lambda

BODIES = {"join": "branch", "race": "branch", "loop": "loop body"}
"""The role of the functions passed to an operation."""


def imports(tree: ast.Module) -> dict[str, str]:
    """What imported names stand for, wherever in the file they are imported."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def dotted_name(node: ast.AST, imports: Mapping[str, str], own: frozenset[str]) -> str:
    """`dt.now` as `datetime.datetime.now`; empty for a name that is neither imported nor built in."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in own:
        return ""
    root = imports.get(node.id, "" if parts else node.id)
    return ".".join([root, *reversed(parts)]) if root else ""


def parameters(function: Callable) -> list[str]:
    arguments = function.args
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def module_variables(tree: ast.Module) -> set[str]:
    """Names that the module binds to values, and modules that it imports."""
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Import(names=names):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in names}
            case _:
                pass
    return found


def own_nodes(function: Callable) -> Iterator[ast.AST]:
    """The nodes of a function's own code, in order; functions and classes inside appear without their contents."""
    todo: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else [*reversed(function.body)]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            todo += reversed(list(ast.iter_child_nodes(node)))


def own_names(function: Callable) -> set[str]:
    """Names bound in a function itself, not in functions inside it."""
    found = set(parameters(function))
    shared: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Nonlocal | ast.Global):
            shared.update(node.names)
    return found - shared


def ctx_names(function: Callable, ctx: Iterable[str]) -> set[str]:
    """Every name that may hold a ctx: the function's own, and the first parameters of inner functions."""
    inside = (node for node in ast.walk(function) if isinstance(node, Function | ast.Lambda) and node is not function)
    return {*ctx, *(name for node in inside for name in parameters(node)[:1])}


def uses(function: Callable, ctxs: set[str]) -> dict[str, str]:
    """What each inner function is used as: `step`, `branch` or `loop body`."""
    found: dict[str, str] = {}
    for call in ast.walk(function):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in ctxs:
                pass
            case _:
                continue
        use = "step" if method == "step" else BODIES.get(method)
        if use is not None:
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                parts = argument.values if isinstance(argument, ast.Dict) else [argument]
                found.update({part.id: use for part in parts if isinstance(part, ast.Name)})
    return found


def is_callable(node: ast.AST) -> bool:
    return isinstance(node, ast.Lambda | ast.Name | ast.Attribute)


def is_marked(function: Function) -> bool:
    return decorated(function, {"step", "workflow"})


def is_step(function: Function) -> bool:
    return decorated(function, {"step"})


def decorated(function: Function, names: set[str]) -> bool:
    for decorator in function.decorator_list:
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in names:
            return True
    return False
