"""`for` and `for-each`: a body over the elements of sequences, nested from left to right."""

from __future__ import annotations

from plait.scripts.ale import nodes
from plait.scripts.ale.compiler import Compiler
from plait.scripts.ale.core import CORE
from plait.scripts.ale.core.folding import for_each
from plait.scripts.ale.environment import bindable
from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import Form, ListForm
from plait.scripts.ale.kinds import Builtin, Case, Value
from plait.scripts.ale.nodes import Node

from .shapes import bindings, counted, invalid

_FOR_EACH = Builtin("for-each", 2, 2, for_each, suspends=True)


def _for(compiler: Compiler, form: ListForm) -> Task[Node]:
    return (yield _loop(compiler, form, CORE["mapcat"], CORE["map"]))


def _for_each(compiler: Compiler, form: ListForm) -> Task[Node]:
    return (yield _loop(compiler, form, _FOR_EACH, _FOR_EACH))


def _loop(compiler: Compiler, form: ListForm, outer: Value, inner: Value) -> Task[Node]:
    binding, *body = counted(form, 1)
    pairs = bindings(binding)
    if not pairs:
        raise invalid("binding", binding)
    return (yield _level(compiler, form, pairs, body, outer, inner))


def _level(
    compiler: Compiler, form: ListForm, pairs: list[tuple[Form, Form]], body: list[Form], outer: Value, inner: Value
) -> Task[Node]:
    """One sequence; the loop over its elements contains the next sequence's loop, or the body."""
    (name, value), *others = pairs
    sequence: Node = yield compiler.form(value)
    with compiler.names.frame():
        with compiler.bound([bindable(name)]):
            if others:
                done: Node = yield _level(compiler, form, others, body, outer, inner)
            else:
                done = yield compiler.body(form.place, body)
        case: Case = compiler.case(done, 1, False)
    function = nodes.procedure(form.place, (case,), "for")
    run = nodes.constant(form.place, outer if others else inner)
    return nodes.call(form.place, run, [function, sequence])


FORMS = {"for": _for, "for-each": _for_each}
