"""`try`, with its `catch` and `finally` clauses."""

from __future__ import annotations

from collections.abc import Sequence

from plait.scripts.ale import nodes, quick
from plait.scripts.ale.compiler import Compiler
from plait.scripts.ale.environment import bindable
from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import Form, ListForm, Name
from plait.scripts.ale.nodes import Node

from .shapes import counted, invalid, two
from .threading import threaded


def _try(compiler: Compiler, form: ListForm) -> Task[Node]:
    body, catches, always = _clauses(form)
    result: Node = yield compiler.body(form.place, body)
    if catches:
        result = yield _caught(compiler, form, result, catches)
    if always is not None:
        slot = compiler.names.slot()
        last: Node = yield compiler.body(always.place, always.items[1:])
        result = nodes.guarded(form.place, slot, result, nodes.constant(form.place, None), last)
    return result


def _clauses(form: ListForm) -> tuple[list[Form], list[ListForm], ListForm | None]:
    """Body, then catches, then at most one `finally`."""
    body: list[Form] = []
    catches: list[ListForm] = []
    always: ListForm | None = None
    for part in counted(form, 0):
        clause = _clause(part)
        if always is not None or (clause is None and catches):
            raise invalid("try form", part)
        if clause is None:
            body.append(part)
        elif clause[0] == "catch":
            catches.append(clause[1])
        else:
            always = clause[1]
    return body, catches, always


def _clause(form: Form) -> tuple[str, ListForm] | None:
    if isinstance(form, ListForm) and form.tail is None and form.items:
        head = form.items[0]
        if isinstance(head, Name) and head.text in ("catch", "finally"):
            return head.text, form
    return None


def _caught(compiler: Compiler, form: ListForm, body: Node, catches: Sequence[ListForm]) -> Task[Node]:
    """The first clause whose test holds for the message; without one, the error propagates."""
    error = compiler.names.slot()
    clauses: list[tuple[ListForm, int, Node, Node]] = []
    for clause in catches:
        if len(clause.items) < 2:
            raise invalid("catch clause", clause)
        name, test = two("catch clause", clause.items[1])
        with compiler.bound([bindable(name)]) as (slot,):
            tested: Node = yield compiler.form(threaded(name, test))
            done: Node = yield compiler.body(clause.place, clause.items[2:])
        clauses.append((clause, slot, tested, done))
    handler = nodes.reraise(form.place, error)
    for clause, slot, tested, done in reversed(clauses):
        named = nodes.assignment(clause.place, slot, Node(clause.place, quick.message(error), 0, 0))
        chosen = nodes.choice(clause.place, tested, done, handler)
        handler = nodes.sequential(clause.place, [named, chosen])
    return nodes.guarded(form.place, error, body, handler, None)


FORMS = {"try": _try}
