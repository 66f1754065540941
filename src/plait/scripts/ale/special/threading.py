"""Forms that pass a value through steps: `->` and its relatives."""

from __future__ import annotations

from collections.abc import Callable

from plait.scripts.ale import nodes
from plait.scripts.ale.compiler import Compiler
from plait.scripts.ale.core import CORE
from plait.scripts.ale.environment import bindable
from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import Form, ListForm, Name
from plait.scripts.ale.nodes import Node

from .shapes import counted, invalid, listed, two

Special = Callable[["Compiler", ListForm], Task[Node]]


def threaded(value: Form, step: Form, *, last: bool = False) -> Form:
    """The call of a step with a value as its first, or last, argument."""
    if not isinstance(step, ListForm):
        return listed(step.place, step, value)
    if step.tail is not None or not step.items:
        raise invalid("threading step", step)
    head, *args = step.items
    return listed(step.place, head, *args, value) if last else listed(step.place, head, value, *args)


def _kept(compiler: Compiler, node: Node, parts: list[Node]) -> Name:
    """A name for a value, which no text can contain; the assignment is added to the parts."""
    name = compiler.names.make_up()
    parts.append(nodes.assignment(node.place, compiler.names.bind(name), node))
    return Name(node.place, name)


def _through(*, last: bool) -> Special:
    def thread(compiler: Compiler, form: ListForm) -> Task[Node]:
        value, *steps = counted(form, 1)
        for step in steps:
            value = threaded(value, step, last=last)
        return (yield compiler.form(value))

    return thread


def _while_some(*, last: bool) -> Special:
    def thread(compiler: Compiler, form: ListForm) -> Task[Node]:
        value, *steps = counted(form, 1)
        current: Node = yield compiler.form(value)
        parts: list[Node] = []
        for step in steps:
            name = _kept(compiler, current, parts)
            after: Node = yield compiler.form(threaded(name, step, last=last))
            null = nodes.constant(step.place, None)
            stopped = nodes.call(step.place, nodes.constant(step.place, CORE["null?"]), [compiler.name(name)])
            current = nodes.choice(step.place, stopped, null, after)
        return nodes.sequential(form.place, [*parts, current])

    return thread


def _where(*, last: bool) -> Special:
    def thread(compiler: Compiler, form: ListForm) -> Task[Node]:
        value, *clauses = counted(form, 1)
        current: Node = yield compiler.form(value)
        parts: list[Node] = []
        for clause in clauses:
            test, step = two("threading clause", clause)
            name = _kept(compiler, current, parts)
            tested: Node = yield compiler.form(threaded(name, test, last=last))
            after: Node = yield compiler.form(threaded(name, step, last=last))
            current = nodes.choice(clause.place, tested, after, compiler.name(name))
        return nodes.sequential(form.place, [*parts, current])

    return thread


def _rebinding(compiler: Compiler, form: ListForm) -> Task[Node]:
    binding, *steps = counted(form, 1)
    name, value = two("binding", binding)
    text = bindable(name)
    current: Node = yield compiler.form(value)
    parts: list[Node] = []
    for step in steps:
        parts.append(nodes.assignment(step.place, compiler.names.bind(text), current))
        current = yield compiler.form(step)
    for _ in steps:
        compiler.names.unbind(text)
    return nodes.sequential(form.place, [*parts, current])


FORMS: dict[str, Special] = {
    "->": _through(last=False),
    "->>": _through(last=True),
    "some->": _while_some(last=False),
    "some->>": _while_some(last=True),
    "cond->": _where(last=False),
    "cond->>": _where(last=True),
    "let->": _rebinding,
}
