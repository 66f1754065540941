"""Where code depends on the order of a set, which differs from process to process because string hashes do.

Sets of asyncio tasks are fine, because those of a workflow hash by the order of their creation. So is anything whose
result does not depend on the order, like `sorted`, `len` or `in`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .function_source import Callable, own_nodes

_ANY_ORDER = {"sorted", "set", "frozenset", "sum", "min", "max", "any", "all", "len"}
_IN_ORDER = {"list", "tuple", "enumerate", "iter", "zip", "map", "filter"}
_OF_SETS = {"union", "intersection", "difference", "symmetric_difference", "copy"}
_ALGEBRA = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_TASKS = {"create_task", "ensure_future"}


def set_names(nodes: Iterable[ast.AST], known: frozenset[str] = frozenset()) -> frozenset[str]:
    """Variables that only ever hold sets, as far as the code that binds them shows."""
    found, other = set[str](), set[str]()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                (found if is_set(value, known | found) else other).add(name)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                (found if _says_set(annotation) else other).add(name)
            case ast.arg(arg=name, annotation=annotation) if annotation is not None and _says_set(annotation):
                found.add(name)
            case _:
                pass
    return frozenset(found - other)


def sets_of(function: Callable, known: frozenset[str]) -> frozenset[str]:
    arguments = function.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return set_names([*parameters, *own_nodes(function)], known)


def is_set(node: ast.expr, known: Iterable[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in known
        case ast.Set(elts=parts):
            return not all(_is_task(part) for part in parts)
        case ast.SetComp(elt=part):
            return not _is_task(part)
        case ast.Call(func=ast.Name(id="set" | "frozenset"), args=arguments):
            return not any(
                isinstance(each, ast.GeneratorExp | ast.ListComp) and _is_task(each.elt) for each in arguments
            )
        case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _OF_SETS:
            return is_set(value, known)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ALGEBRA):
            return any(is_set(side, known) or _is_view(side) for side in (left, right))
        case ast.IfExp(body=one, orelse=other):
            return is_set(one, known) or is_set(other, known)
        case _:
            return False


def in_order_of_a_set(node: ast.AST, known: frozenset[str]) -> bool:
    """Whether the result of this node, apart from its parts, depends on the order of a set."""
    match node:
        case ast.For(iter=each) | ast.AsyncFor(iter=each):
            return is_set(each, known)
        case ast.ListComp() | ast.DictComp() | ast.GeneratorExp():
            return any(is_set(part.iter, known) for part in node.generators)
        case ast.Starred(value=value) | ast.Assign(targets=[ast.Tuple() | ast.List(), *_], value=value):
            return is_set(value, known)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _IN_ORDER:
            return any(is_set(argument, known) for argument in arguments)
        case ast.Call(func=ast.Attribute(attr="join" | "fromkeys"), args=[first, *_]):
            return is_set(first, known)
        case ast.Call(func=ast.Attribute(value=value, attr="pop"), args=[]):
            return is_set(value, known)
        case _:
            return False


def in_any_order(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node whose order does not affect its result."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _ANY_ORDER:
            yield from arguments
        case ast.Set(elts=parts):
            yield from parts
        case _:
            pass


def begins_in_order_of_a_set(futures: ast.expr, ctxs: Iterable[str]) -> bool:
    """Whether `asyncio.as_completed` begins what it is given, and thus numbers timers and draws as a set has it.
    Operations have names of their own."""
    match futures:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return any(_is_coroutine(part, ctxs) for part in parts)
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
            return _is_coroutine(part, ctxs)
        case _:
            return False


def _is_coroutine(node: ast.expr, ctxs: Iterable[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in ctxs:
            return False
        case ast.Call():
            return not _is_task(node)
        case _:
            return False


def _is_view(node: ast.expr) -> bool:
    """Whether this is a dictionary view, which is ordered; an operation on two of them yields a set."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "items")


def _says_set(annotation: ast.expr) -> bool:
    root = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    named = isinstance(root, ast.Name) and root.id in ("set", "frozenset")
    return named and not any(word in ast.unparse(annotation) for word in ("Task", "Future"))


def _is_task(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _TASKS
        case _:
            return False
