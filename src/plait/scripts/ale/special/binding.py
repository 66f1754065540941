"""`let`, `let*` and `let-rec`."""

from __future__ import annotations

from plait.scripts.ale import nodes
from plait.scripts.ale.compiler import Compiler
from plait.scripts.ale.environment import bindable
from plait.scripts.ale.errors import AleCompileError
from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import Form, ListForm
from plait.scripts.ale.nodes import Node

from .shapes import bindings, counted


def distinct(names: list[Form]) -> list[str]:
    """The texts of names bound side by side; refuses duplicates."""
    result: dict[str, None] = {}
    for name in names:
        text = bindable(name)
        if text in result:
            raise AleCompileError("name_bound", f"name already bound: {text}", name.place)
        result[text] = None
    return list(result)


def _let(compiler: Compiler, form: ListForm) -> Task[Node]:
    binding, *body = counted(form, 1)
    pairs = bindings(binding)
    names = distinct([name for name, _ in pairs])
    values: list[Node] = yield compiler.all([value for _, value in pairs])
    with compiler.bound(names) as slots:
        result: Node = yield compiler.body(form.place, body)
    made = [nodes.assignment(value.place, slot, value) for slot, value in zip(slots, values, strict=True)]
    return nodes.sequential(form.place, [*made, result])


def _let_one_by_one(compiler: Compiler, form: ListForm) -> Task[Node]:
    binding, *body = counted(form, 1)
    pairs = bindings(binding)
    parts: list[Node] = []
    bound: list[str] = []
    for name, value in pairs:
        text = bindable(name)
        made: Node = yield compiler.form(value)
        parts.append(nodes.assignment(name.place, compiler.names.bind(text), made))
        bound.append(text)
    parts.append((yield compiler.body(form.place, body)))
    for text in bound:
        compiler.names.unbind(text)
    return nodes.sequential(form.place, parts)


def _let_recursive(compiler: Compiler, form: ListForm) -> Task[Node]:
    binding, *body = counted(form, 1)
    pairs = bindings(binding)
    names = distinct([name for name, _ in pairs])
    with compiler.bound(names, early=True) as slots:
        values: list[Node] = yield compiler.all([value for _, value in pairs])
        result: Node = yield compiler.body(form.place, body)
    made = [nodes.assignment(value.place, slot, value) for slot, value in zip(slots, values, strict=True)]
    return nodes.sequential(form.place, [*made, result])


FORMS = {"let": _let, "let*": _let_one_by_one, "let-rec": _let_recursive}
