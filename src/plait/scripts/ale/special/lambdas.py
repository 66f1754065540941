"""Forms that create procedures: `lambda`, `lambda-rec`, `label`, `thunk`; and the parts of `define`."""

from __future__ import annotations

from collections.abc import Sequence

from plait.scripts.ale import nodes
from plait.scripts.ale.compiler import Compiler
from plait.scripts.ale.environment import bindable
from plait.scripts.ale.errors import AleCompileError
from plait.scripts.ale.flat import Task
from plait.scripts.ale.forms import Form, ListForm, Name, VectorForm
from plait.scripts.ale.kinds import Case
from plait.scripts.ale.nodes import Node

from .binding import distinct
from .shapes import counted, invalid, special


def _lambda(compiler: Compiler, form: ListForm) -> Task[Node]:
    return (yield _made(compiler, form, counted(form, 1), "lambda"))


def _lambda_recursive(compiler: Compiler, form: ListForm) -> Task[Node]:
    name, *rest = counted(form, 2)
    return (yield _named(compiler, form, name, special(form.place, "lambda", *rest)))


def _label(compiler: Compiler, form: ListForm) -> Task[Node]:
    name, value = counted(form, 2, 2)
    return (yield _named(compiler, form, name, value))


def _named(compiler: Compiler, form: ListForm, name: Form, value: Form) -> Task[Node]:
    """A value that can refer to itself by a name."""
    with compiler.bound([bindable(name)], early=True) as (slot,):
        made: Node = yield compiler.form(value)
    return nodes.sequential(form.place, [nodes.assignment(form.place, slot, made), nodes.local(form.place, 0, slot)])


def _thunk(compiler: Compiler, form: ListForm) -> Task[Node]:
    case: Case = yield compiler.procedure(form.place, [], False, counted(form, 0))
    return nodes.procedure(form.place, (case,), "thunk")


def _made(compiler: Compiler, form: ListForm, parts: Sequence[Form], name: str) -> Task[Node]:
    several = isinstance(parts[0], VectorForm)
    cases: list[Case] = []
    for part in parts if several else [VectorForm(form.place, tuple(parts))]:
        if not isinstance(part, VectorForm) or not part.items:
            raise invalid("lambda case", part)
        parameters, *body = part.items
        names, rest = _parameters(parameters)
        _check_reachable(cases, len(names) - rest, rest, part)
        cases.append((yield compiler.procedure(part.place, names, rest, body)))
    return nodes.procedure(form.place, tuple(cases), name)


def _parameters(form: Form) -> tuple[list[str], bool]:
    """The names in `(a b)`, `(a . rest)` or `rest`, and whether the last one takes the rest."""
    if isinstance(form, Name):
        return distinct([form]), True
    if not isinstance(form, ListForm):
        raise invalid("parameters", form)
    if form.tail is None:
        return distinct(list(form.items)), False
    return distinct([*form.items, form.tail]), True


def _check_reachable(cases: list[Case], count: int, rest: bool, form: Form) -> None:
    """Each case must take some number of arguments that no case before it takes."""
    open_from = min((case.takes for case in cases if case.rest), default=None)
    taken = {case.takes for case in cases if not case.rest}
    if open_from is None:
        reachable = rest or count not in taken
    else:
        wanted = range(count, open_from) if rest else range(count, min(count + 1, open_from))
        reachable = any(number not in taken for number in wanted)
    if not reachable:
        raise AleCompileError("unreachable_case", "unreachable lambda case", form.place)


def _define(compiler: Compiler, form: ListForm) -> Task[Node]:
    raise AleCompileError("bad_form", "define is allowed at the top level only", form.place)
    yield  # a special form is a task, even one that is always refused


def defined(form: ListForm) -> tuple[Form, Form]:
    """The name of `(define n v)` or `(define (n . p) f ..)`, and the form of its value."""
    if form.tail is not None or len(form.items) < 2:
        raise invalid("define form", form)
    target, *rest = form.items[1:]
    if not isinstance(target, ListForm):
        if len(rest) != 1:
            raise invalid("define form", form)
        return target, rest[0]
    if not target.items:
        raise invalid("define form", form)
    name, *parameters = target.items
    if parameters or target.tail is None:
        shape: Form = ListForm(target.place, tuple(parameters), target.tail)
    else:
        shape = target.tail  # (define (n . rest) ..)
    return name, special(form.place, "lambda", shape, *rest)


FORMS = {
    "lambda": _lambda,
    "λ": _lambda,
    "lambda-rec": _lambda_recursive,
    "label": _label,
    "thunk": _thunk,
    "define": _define,
}
