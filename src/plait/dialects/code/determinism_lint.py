"""Finds code in workflow functions that a replay would do differently, from their source alone.

A workflow function is run again from the top whenever its run is loaded, and must then take the same path. So all
it knows of the world must come from its input and from `ctx`. This lint finds the common slips:

clock, random   the time of day and chance: `ctx.now()`, `ctx.random()`, `ctx.uuid()` are the same on every replay
io              files, network, processes, environment: they belong in a step
outer-ctx       the ctx of an enclosing scope in a branch or a loop's body, which has its own
outer-variable  a variable of an enclosing scope changed in a body: a finished body is not entered on replay; or a
                variable of the module, which every replay would change again
set-order       depending on the order of a set, which differs from process to process

Steps are not checked; functions of the same file that the workflow calls are. `# plait: ok` at the end of a line
suppresses its warnings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from .function_source import (
    BODIES,
    Callable,
    Function,
    ctx_names,
    dotted_name,
    imports,
    is_callable,
    is_marked,
    is_step,
    module_variables,
    own_names,
    parameters,
    uses,
)
from .set_order import begins_in_order_of_a_set, in_any_order, in_order_of_a_set, set_names, sets_of

Code = Literal["clock", "random", "io", "outer-ctx", "outer-variable", "set-order"]

_CLOCKS = {
    *(f"time.{name}" for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")),
    *(f"time.{name}" for name in ("process_time", "localtime", "gmtime", "ctime")),
    *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
    "datetime.date.today",
}
_CHANCE = ("random.", "secrets.", "numpy.random.")
_CHANCES = {"uuid.uuid1", "uuid.uuid4", "os.urandom", "os.getrandom"}
_IO = (
    *("requests.", "httpx.", "aiohttp.", "urllib.request.", "urllib3.", "http.client.", "socket.", "smtplib."),
    *("subprocess.", "shutil.", "tempfile.", "sqlite3.", "asyncpg.", "psycopg.", "psycopg2.", "redis.", "boto3."),
    *("threading.", "multiprocessing.", "concurrent.futures.", "asyncio.create_subprocess", "asyncio.open_"),
)
_IOS = {
    *("open", "input", "asyncio.to_thread", "asyncio.start_server", "asyncio.run"),
    *(f"os.{name}" for name in ("system", "popen", "remove", "unlink", "rename", "replace", "mkdir", "makedirs")),
    *(f"os.{name}" for name in ("listdir", "scandir", "walk", "stat", "getenv", "putenv", "environ", "getpid")),
}
_IO_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}
_CHANGING = {
    *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "appendleft", "popleft"),
    *("add", "discard", "update", "setdefault", "popitem"),
}
_SCOPED = {
    *("step", "sleep", "sleep_until", "timeout", "listen", "listen_n", "send", "join", "race", "loop", "child"),
    *("start_child", "agent", "approve", "version", "removed", "random", "uuid"),
}
"""Members of a ctx that act in its own scope; `ctx.run_id`, `ctx.now()` and the like are the same in all scopes."""


@dataclass(frozen=True, slots=True, order=True)
class Warning:
    file: str
    line: int
    code: Code
    workflow: str
    message: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """A function that is part of the workflow's code."""

    ctxs: frozenset[str]
    """The names of its own ctx."""
    outer_ctxs: frozenset[str]
    names: frozenset[str]
    """The function's own variables."""
    outer: frozenset[str]
    """Variables of the functions around it that it must not change."""
    sets: frozenset[str]
    """Variables that hold sets, its own and those of enclosing functions."""
    body: str = ""
    """`branch` or `loop body` if the function is one, or is inside one."""


def lint(source: str, file: str, workflows: Mapping[int, str]) -> list[Warning]:
    """Warnings about the workflows of a file; `workflows` maps their first lines to their names."""
    tree = ast.parse(source, file)
    found: set[Warning] = set()
    for node in tree.body:
        for function in _functions(node):
            label = workflows.get(_first_line(function))
            if label is not None:
                found |= _Linter(tree, file, label).workflow(function)
    lines = source.splitlines()
    return sorted(warning for warning in found if "# plait: ok" not in lines[warning.line - 1])


def _functions(node: ast.AST) -> Iterator[Function]:
    return (found for found in ast.walk(node) if isinstance(found, Function))


def _first_line(function: Function) -> int:
    """The first line as Python counts it: decorators belong to a function."""
    return min(function.lineno, *(decorator.lineno for decorator in function.decorator_list), function.lineno)


class _Linter:
    def __init__(self, tree: ast.Module, file: str, label: str) -> None:
        self._file = file
        self._label = label
        self._imports = imports(tree)
        self._helpers = {node.name: node for node in tree.body if isinstance(node, Function)}
        self._globals = module_variables(tree)
        self._sets = set_names(tree.body)
        self._unordered: set[int] = set()
        self._found: set[Warning] = set()
        self._entered: set[tuple[str, frozenset[str]]] = set()
        self._uses: dict[str, str] = {}

    def workflow(self, function: Function) -> set[Warning]:
        ctx = parameters(function)[:1]
        self._uses = uses(function, ctx_names(function, ctx))
        self._enter(function, frozenset(ctx), None)
        return self._found

    # -- visiting code -------------------------------------------------------------------------------------------

    def _enter(self, function: Callable, ctxs: frozenset[str], around: _Scope | None, body: str = "") -> None:
        names = frozenset(own_names(function))
        sets = (self._sets if around is None else around.sets) - names
        sets |= sets_of(function, sets)
        if around is None:
            scope = _Scope(ctxs, frozenset(), names, frozenset(), sets)
        elif body:
            outer = (around.names | around.outer) - names
            scope = _Scope(ctxs, (around.ctxs | around.outer_ctxs) - names, names, outer, sets, body)
        else:  # plain code of the enclosing scope
            own, outer_ctxs = (around.ctxs - names) | ctxs, around.outer_ctxs - names
            scope = _Scope(own, outer_ctxs, around.names | names, around.outer, sets, around.body)
        if isinstance(function, ast.Lambda):
            self._visit(function.body, scope)
        else:
            for statement in function.body:
                self._visit(statement, scope)

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        self._unordered.update(id(part) for part in in_any_order(node))
        if in_order_of_a_set(node, scope.sets) and id(node) not in self._unordered:
            self._warn(node, "set-order", "the order of a set is another in every process: use `sorted(...)` or a list")
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._nested(node, scope)
                return
            case ast.Lambda():
                self._enter(node, frozenset(), scope)
                return
            case ast.Call():
                self._call(node, scope)
                return
            case ast.Nonlocal() | ast.Global() if scope.body or isinstance(node, ast.Global):
                for name in node.names:
                    self._changed(node, name, scope)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Delete():
                targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
                for target in targets:
                    self._target(target, scope)
            case ast.Attribute():
                self._name(node, dotted_name(node, self._imports, scope.names | scope.outer), scope)
            case _:
                pass
        self._children(node, scope)

    def _children(self, node: ast.AST, scope: _Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)

    def _nested(self, function: Function, scope: _Scope) -> None:
        use = self._uses.get(function.name, "")
        if use == "step" or is_step(function):
            return
        own = frozenset(parameters(function)[:1]) if use else frozenset[str]()
        self._enter(function, own, scope, use)

    def _call(self, call: ast.Call, scope: _Scope) -> None:
        match call.func:
            case ast.Attribute(value=ast.Name(id=name), attr=method) if name in scope.ctxs | scope.outer_ctxs:
                if name in scope.outer_ctxs - scope.ctxs and method in _SCOPED:
                    self._warn(call, "outer-ctx", f"`{name}.{method}` of an outer scope in a {scope.body}: {_OWN_CTX}")
                self._operation(call, method, scope)
                return
            case ast.Name(id=name) if name in self._helpers and name not in scope.names | scope.outer:
                self._helper(self._helpers[name], call, scope)
            case ast.Attribute(value=value, attr=method):
                if method in _IO_METHODS:
                    self._warn(call, "io", f"`.{method}()` touches the disk: {_IN_STEP}")
                if method in _CHANGING and isinstance(value, ast.Name) and self._is_outer(value.id, scope):
                    self._changed(call, value.id, scope)
            case _:
                pass
        dotted = dotted_name(call.func, self._imports, scope.names | scope.outer)
        seeded = dotted == "random.Random" and bool(call.args)
        if dotted and not seeded:
            self._name(call.func, dotted, scope)
        if dotted == "asyncio.as_completed" and any(begins_in_order_of_a_set(each, scope.ctxs) for each in call.args):
            self._warn(call, "set-order", "`as_completed` begins coroutines in the order of a set: give it tasks")
        for part in (*call.args, *call.keywords, *([] if dotted else [call.func])):
            self._visit(part, scope)

    def _operation(self, call: ast.Call, method: str, scope: _Scope) -> None:
        """Visits a ctx call: among its functions, steps are not workflow code, and bodies have their own scope."""
        body = BODIES.get(method)
        for position, argument in enumerate([*call.args, *(keyword.value for keyword in call.keywords)]):
            keyword = call.keywords[position - len(call.args)].arg if position >= len(call.args) else None
            if body is not None and isinstance(argument, ast.Lambda | ast.Dict | ast.Name | ast.DictComp):
                self._bodies(argument, body, scope)
            elif method == "step" and (position == 1 or keyword == "rollback") and is_callable(argument):
                continue
            else:
                self._visit(argument, scope)

    def _bodies(self, argument: ast.expr, body: str, scope: _Scope) -> None:
        match argument:
            case ast.Dict(values=parts):
                pass
            case ast.DictComp(value=value):
                parts = [value]
            case _:
                parts = [argument]
        for part in parts:
            if isinstance(part, ast.Lambda):
                self._enter(part, frozenset(parameters(part)[:1]), scope, body)
            elif isinstance(part, ast.Name) and part.id in self._helpers and part.id not in scope.names | scope.outer:
                self._once(self._helpers[part.id], frozenset(parameters(self._helpers[part.id])[:1]))

    def _helper(self, function: Function, call: ast.Call, scope: _Scope) -> None:
        """Visits a function of this file that the workflow calls: it is workflow code, and may have been given the
        ctx."""
        names = parameters(function)
        given = {
            *(name for name, value in zip(names, call.args, strict=False) if _is_ctx(value, scope)),
            *(keyword.arg for keyword in call.keywords if keyword.arg and _is_ctx(keyword.value, scope)),
        }
        if not is_marked(function):
            self._once(function, frozenset(given))

    def _once(self, function: Function, ctxs: frozenset[str]) -> None:
        if (function.name, ctxs) not in self._entered:
            self._entered.add((function.name, ctxs))
            before, self._uses = self._uses, uses(function, ctx_names(function, list(ctxs)))
            self._enter(function, ctxs, None)
            self._uses = before

    # -- rules ---------------------------------------------------------------------------------------------------

    def _name(self, node: ast.AST, dotted: str, scope: _Scope) -> None:
        if dotted in _CLOCKS:
            self._warn(node, "clock", f"`{dotted}` is another on every replay: use `ctx.now()`")
        elif dotted == "time.sleep":
            self._warn(node, "clock", "`time.sleep` holds up every run: use `await ctx.sleep(name, seconds)`")
        elif dotted in _CHANCES or dotted.startswith(_CHANCE):
            instead = "`ctx.uuid()`" if dotted.startswith("uuid.") else "`ctx.random()`"
            self._warn(node, "random", f"`{dotted}` is another on every replay: use {instead}")
        elif dotted in ("hash", "id"):
            self._warn(node, "random", f"`{dotted}` is another in every process: use hashlib, or a key of your own")
        elif dotted in _IOS or dotted.startswith(_IO):
            self._warn(node, "io", f"`{dotted}` touches the world: {_IN_STEP}")

    def _target(self, target: ast.expr, scope: _Scope) -> None:
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Starred):
            root = root.value
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._target(part, scope)
        elif root is not target and isinstance(root, ast.Name) and self._is_outer(root.id, scope):
            self._changed(target, root.id, scope)

    def _is_outer(self, name: str, scope: _Scope) -> bool:
        """Whether workflow code must not change a variable: one of the function around a body, or of the module."""
        if name in scope.outer:
            return bool(scope.body)
        return name in self._globals and name not in scope.names

    def _changed(self, node: ast.AST, name: str, scope: _Scope) -> None:
        if name in scope.outer or isinstance(node, ast.Nonlocal):
            text = f"`{name}` of an outer scope is changed in a {scope.body}: {_RETURN_IT}"
        else:
            text = f"`{name}` of the module is changed in a workflow: {_OWN_VARIABLE}"
        self._warn(node, "outer-variable", text)

    def _warn(self, node: ast.AST, code: Code, message: str) -> None:
        line = cast("ast.expr | ast.stmt", node).lineno
        self._found.add(Warning(self._file, line, code, self._label, message))


_IN_STEP = 'put it in `ctx.step("name", fn)`'
_OWN_CTX = "use the ctx it is given"
_OWN_VARIABLE = "every replay and every run in the process would change it; use a variable of the workflow, or a step"
_RETURN_IT = "on replay a finished body is not entered; return what it found"


def _is_ctx(node: ast.AST, scope: _Scope) -> bool:
    return isinstance(node, ast.Name) and node.id in scope.ctxs
