"""What import-linter can't say: modules of a package form no circle, and nobody outside a dialect knows its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import plait

ROOT = Path(plait.__file__).parent
KNOW_NO_DIALECT = ("engine", "server", "cli", "client", "observe")
MAY_KNOW_DIALECTS = (
    "plait.server.argyll",  # the compatible mount of one dialect's clients
)
DIALECTS = frozenset(path.parent.name for path in (ROOT / "dialects").glob("*/__init__.py"))
Graph = Mapping[str, frozenset[str]]


def test_modules_import_each_other_in_no_circle() -> None:
    """Imports for types only and inside functions count: they hide a circle, they don't open it."""
    circles = [", ".join(sorted(circle)) for circle in _circles(_imports())]
    assert not circles, f"{len(circles)} circles:\n" + "\n".join(circles)


@pytest.mark.parametrize("package", KNOW_NO_DIALECT)
def test_only_the_registry_knows_dialects(package: str) -> None:
    places = [place for module in _modules() if _must_not_know(module, package) for place in _mentions(module)]
    assert not places, f"{len(places)} places:\n" + "\n".join(places)


def test_a_circle_is_found() -> None:
    graph = {name: frozenset(to) for name, to in {"a": "b", "b": "cd", "c": "a", "d": "e", "e": "", "f": "f"}.items()}
    assert sorted(map(sorted, _circles(graph))) == [["a", "b", "c"], ["f"]]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from plait.dialects.goals.errors import X", ["an import"]),
        ("def late():\n    import plait.dialects.code", ["an import"]),
        ("from ..dialects import goals", ["an import"]),
        ('row.dialect == "code"', ["'code'"]),
        ('refuse("goals.step_exists")', ["'goals.step_exists'"]),
        ('{"code": error.code}', []),
        ('answer["code"], getattr(error, "code", None)', []),
        ('"""About goals."""', []),
    ],
)
def test_a_mention_of_a_dialect_is_found(line: str, found: list[str]) -> None:
    assert [what for _, what in _mentions_in("plait.engine.some", ast.parse(line))] == found


def _must_not_know(module: str, package: str) -> bool:
    return _is_below(module, f"plait.{package}") and not any(_is_below(module, other) for other in MAY_KNOW_DIALECTS)


def _mentions(module: str) -> Iterator[str]:
    path = _modules()[module].relative_to(ROOT)
    return (f"{path}:{line}: {what}" for line, what in sorted(_mentions_in(module, _tree(module))))


def _mentions_in(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    fields = _fields_of_errors(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if any(_is_below(name, "plait.dialects") for name in _imported(module, node)):
                yield node.lineno, "an import"
        elif isinstance(node, ast.Constant) and node not in fields and _names_a_dialect(node.value):
            yield node.lineno, repr(node.value)


def _names_a_dialect(value: object) -> bool:
    """By its name, or by the code of an error of its own."""
    return isinstance(value, str) and " " not in value and value.split(".")[0] in DIALECTS


def _fields_of_errors(tree: ast.Module) -> set[ast.AST]:
    """`code` is also a field that every error has: `{"code": …}`, `error["code"]`, `getattr(error, "code")`."""
    found: set[ast.AST | None] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Dict():
                found.update(node.keys)
            case ast.Subscript():
                found.add(node.slice)
            case ast.Call(func=ast.Name(id="getattr")):
                found.update(node.args)
            case _:
                pass
    return {node for node in found if isinstance(node, ast.Constant) and node.value == "code"}


def _imports() -> Graph:
    """Which modules of ours each module imports, wherever the import stands."""
    return {
        module: frozenset(
            name
            for node in _statements(_tree(module))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in _imported(module, node)
            if name in _modules()
        )
        for module in _modules()
    }


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All of them, at any depth, without what they are made of: a tenth of the nodes."""
    ahead: list[ast.AST] = [tree]
    while ahead:
        node = ahead.pop()
        yield node
        for field in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                ahead += inner


def _imported(module: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """`from a import b` is the module `a.b` if there is one, else `a`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = _base(module, node)
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        yield inner if inner in _modules() else base


def _base(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    is_package = _modules().get(module, Path()).name == "__init__.py"
    above = module.split(".")[: len(module.split(".")) - node.level + is_package]
    return ".".join([*above, *([node.module] if node.module else [])])


def _circles(graph: Graph) -> list[list[str]]:
    """The groups of modules of which each leads to each other, and so to itself."""
    left = {name: to & graph.keys() for name, to in graph.items()}
    while ends := {name for name, to in left.items() if not to}:
        left = {name: to - ends for name, to in left.items() if name not in ends}
    reached = {name: _reached(left, name) for name in left}
    groups = {frozenset(other for other in to if name in reached[other]) for name, to in reached.items()}
    return [list(group) for group in groups if group]


def _reached(graph: Graph, name: str) -> set[str]:
    found: set[str] = set()
    ahead = set(graph[name])
    while ahead:
        found |= ahead
        ahead = {further for other in ahead for further in graph[other]} - found
    return found


@cache
def _modules() -> dict[str, Path]:
    return {_name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def _name_of(path: Path) -> str:
    parts = ("plait", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_modules()[module].read_text())


def _is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
