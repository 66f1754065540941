"""Conditional forms: `if` and its relatives, `cond`, `case`, `and`, `or`; and `quote`, `begin`, `:`."""

from __future__ import annotations

from plait.scripts.ale import nodes
from plait.scripts.ale.compiler import Compiler
from plait.scripts.ale.core import CORE
from plait.scripts.ale.environment import bindable
from plait.scripts.ale.errors import AleRuntimeError
from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import Form, ListForm, Name
from plait.scripts.ale.kinds import Builtin, Value
from plait.scripts.ale.limits import Meter
from plait.scripts.ale.nodes import Node
from plait.scripts.ale.quoting import datum

from .shapes import counted, two


def _quote(compiler: Compiler, form: ListForm) -> Task[Node]:
    (quoted,) = counted(form, 1, 1)
    value: Value = yield datum(compiler.meter, quoted)
    return nodes.constant(form.place, value)


def _if(compiler: Compiler, form: ListForm) -> Task[Node]:
    parts: list[Node] = yield compiler.all(counted(form, 2, 3))
    other = parts[2] if len(parts) == 3 else nodes.constant(form.place, None)
    return nodes.choice(form.place, parts[0], parts[1], other)


def _unless(compiler: Compiler, form: ListForm) -> Task[Node]:
    parts: list[Node] = yield compiler.all(counted(form, 2, 3))
    other = parts[2] if len(parts) == 3 else nodes.constant(form.place, None)
    return nodes.choice(form.place, parts[0], other, parts[1])


def _when(compiler: Compiler, form: ListForm) -> Task[Node]:
    test, *rest = counted(form, 1)
    tested: Node = yield compiler.form(test)
    body: Node = yield compiler.body(form.place, rest)
    return nodes.choice(form.place, tested, body, nodes.constant(form.place, None))


def _when_not(compiler: Compiler, form: ListForm) -> Task[Node]:
    test, *rest = counted(form, 1)
    tested: Node = yield compiler.form(test)
    body: Node = yield compiler.body(form.place, rest)
    return nodes.choice(form.place, tested, nodes.constant(form.place, None), body)


def _cond(compiler: Compiler, form: ListForm) -> Task[Node]:
    clauses: list[tuple[Form, Node, Node]] = []
    for clause in counted(form, 0):
        test, value = two("cond clause", clause)
        clauses.append((clause, (yield compiler.form(test)), (yield compiler.form(value))))
    result: Node = nodes.constant(form.place, None)
    for clause, test, value in reversed(clauses):
        result = nodes.choice(clause.place, test, value, result)
    return result


def _no_case(_: Meter) -> Value:
    raise AleRuntimeError("no_case", "no cases could be matched")


_NO_CASE = Builtin("case", 0, 0, _no_case)


def _case(compiler: Compiler, form: ListForm) -> Task[Node]:
    subject, *clauses = counted(form, 1)
    value: Node = yield compiler.form(subject)
    slot = compiler.names.slot()
    chosen: list[tuple[Form, Node, Node]] = []
    for clause in clauses:
        wanted, result = two("case clause", clause)
        tests: list[Node] = []
        for alternative in _alternatives(wanted):
            tests.append(_same(slot, (yield compiler.form(alternative))))
        chosen.append((clause, nodes.some(clause.place, tests), (yield compiler.form(result))))
    whole: Node = nodes.call(form.place, nodes.constant(form.place, _NO_CASE), [])
    for clause, test, result in reversed(chosen):
        whole = nodes.choice(clause.place, test, result, whole)
    return nodes.sequential(form.place, [nodes.assignment(form.place, slot, value), whole])


def _alternatives(wanted: Form) -> tuple[Form, ...]:
    """`(1 2)` is two alternatives; `'x` is one, though it reads as a list."""
    quoted = isinstance(wanted, ListForm) and bool(wanted.items) and _is_quote(wanted.items[0])
    if isinstance(wanted, ListForm) and wanted.tail is None and wanted.items and not quoted:
        return wanted.items
    return (wanted,)


def _is_quote(head: Form) -> bool:
    return isinstance(head, Name) and head.text == "quote"


def _same(slot: int, wanted: Node) -> Node:
    place = wanted.place
    return nodes.call(place, nodes.constant(place, CORE["eq"]), [nodes.local(place, 0, slot), wanted])


def _and(compiler: Compiler, form: ListForm) -> Task[Node]:
    parts: list[Node] = yield compiler.all(counted(form, 0))
    return nodes.every(form.place, parts)


def _or(compiler: Compiler, form: ListForm) -> Task[Node]:
    parts: list[Node] = yield compiler.all(counted(form, 0))
    return nodes.some(form.place, parts)


def _not_and(compiler: Compiler, form: ListForm) -> Task[Node]:
    return _negated((yield _and(compiler, form)))


def _not_or(compiler: Compiler, form: ListForm) -> Task[Node]:
    return _negated((yield _or(compiler, form)))


def _negated(node: Node) -> Node:
    return nodes.call(node.place, nodes.constant(node.place, CORE["not"]), [node])


def _if_let(compiler: Compiler, form: ListForm) -> Task[Node]:
    binding, then, *other = counted(form, 2, 3)
    return (yield _let_choice(compiler, form, binding, [then], other))


def _when_let(compiler: Compiler, form: ListForm) -> Task[Node]:
    binding, *body = counted(form, 1)
    return (yield _let_choice(compiler, form, binding, body, []))


def _let_choice(compiler: Compiler, form: ListForm, binding: Form, then: list[Form], other: list[Form]) -> Task[Node]:
    name, value = two("binding", binding)
    text = bindable(name)
    made: Node = yield compiler.form(value)
    with compiler.bound([text]) as (slot,):
        first: Node = yield compiler.body(form.place, then)
        second: Node = yield compiler.body(form.place, other)
    tested = nodes.local(name.place, 0, slot)
    whole = nodes.choice(form.place, tested, first, second)
    return nodes.sequential(form.place, [nodes.assignment(form.place, slot, made), whole])


def _begin(compiler: Compiler, form: ListForm) -> Task[Node]:
    return (yield compiler.body(form.place, counted(form, 0)))


def _call_member(compiler: Compiler, form: ListForm) -> Task[Node]:
    """`(: coll key arg ..)`."""
    whole, key, *args = yield compiler.all(counted(form, 2))
    head = nodes.call(form.place, nodes.constant(form.place, CORE["get"]), [whole, key])
    return nodes.call(form.place, head, args)


FORMS = {
    "quote": _quote,
    "if": _if,
    "unless": _unless,
    "when": _when,
    "when-not": _when_not,
    "cond": _cond,
    "case": _case,
    "and": _and,
    "or": _or,
    "!and": _not_and,
    "!or": _not_or,
    "if-let": _if_let,
    "when-let": _when_let,
    "begin": _begin,
    ":": _call_member,
}
