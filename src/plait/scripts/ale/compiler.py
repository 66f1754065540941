"""Compiles forms to nodes, with every name resolved; the special forms are passed in."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from . import nodes
from .code import Code
from .core import CORE, building
from .environment import FIRST_SLOT, Core, Environment, special
from .errors import Place
from .flat import Task, finish
from .forms import Form, Group, ListForm, Literal, Name, ObjectForm, SetForm
from .kinds import Builtin, Case, Value
from .limits import DEFAULT, Meter
from .nodes import Node
from .quick import UNSET

_PAIR = Builtin("pair", 1, None, building.make_pair)


class Compiler:
    """Processes one text once, from left to right."""

    def __init__(self, specials: Mapping[str, Special]) -> None:
        self._specials = specials
        self.names = Environment()
        self.meter = Meter(DEFAULT)

    def form(self, form: Form) -> Task[Node]:
        """The node of a form."""
        match form:
            case Literal():
                return nodes.constant(form.place, form.value)
            case Name():
                return self.name(form)
            case ListForm():
                return (yield self._list(form))
            case ObjectForm():
                return (yield self._parts(form, CORE["object"], form.items))
            case SetForm():
                return (yield self._parts(form, CORE["set"], form.items))
            case Group():
                return (yield self._parts(form, CORE["vector"], form.items))
            case _:
                raise AssertionError(form)

    def name(self, name: Name) -> Node:
        found = self.names.resolve(name)
        if isinstance(found, Core):
            return nodes.constant(name.place, found.value)
        return nodes.local(name.place, found.out, found.slot, name.text if found.early else None)

    def _list(self, form: ListForm) -> Task[Node]:
        if form.tail is not None:
            return (yield self._parts(form, _PAIR, (*form.items, form.tail)))
        if not form.items:
            return nodes.constant(form.place, None)
        name = special(form.items[0])
        if name is not None:
            return (yield self._specials[name](self, form))
        head: Node = yield self.form(form.items[0])
        args: list[Node] = yield self.all(form.items[1:])
        return nodes.call(form.place, head, args)

    def _parts(self, form: Form, make: Value, items: Sequence[Form]) -> Task[Node]:
        """A literal collection: built at compile time if its parts are constants, else by a core function."""
        parts: list[Node] = yield self.all(items)
        if all(isinstance(part, nodes.Constant) for part in parts):
            values = [part.value for part in parts if isinstance(part, nodes.Constant)]
            return nodes.constant(form.place, make.run(self.meter, *values))
        return nodes.call(form.place, nodes.constant(form.place, make), parts)

    def all(self, forms: Sequence[Form]) -> Task[list[Node]]:
        result: list[Node] = []
        for form in forms:
            result.append((yield self.form(form)))
        return result

    def body(self, place: Place, forms: Sequence[Form]) -> Task[Node]:
        """Forms in order; the last is the value."""
        parts: list[Node] = yield self.all(forms)
        return nodes.sequential(place, parts)

    @contextmanager
    def bound(self, names: Sequence[str], *, early: bool = False) -> Generator[list[int]]:
        """Binds names within a scope; yields their slots."""
        yield [self.names.bind(name, early=early) for name in names]
        for name in names:
            self.names.unbind(name)

    def procedure(self, place: Place, names: Sequence[str], rest: bool, forms: Sequence[Form]) -> Task[Case]:
        """One case of a procedure: parameters, whether the last takes the rest, and the body."""
        with self.names.frame():
            with self.bound(names):
                body: Node = yield self.body(place, forms)
            return self.case(body, len(names), rest)

    def case(self, body: Node, count: int, rest: bool) -> Case:
        blank = [UNSET] * (self.names.size - FIRST_SLOT - count)
        return Case(count - rest, rest, finish(assembled(body)), blank)


Special = Callable[[Compiler, ListForm], Task[Node]]
"""Compiles the forms with one head."""


def assembled(body: Node) -> Task[Code]:
    """The code of a body."""
    code = Code()
    yield nodes.emit(code, body, last=True)
    if body.quick:
        code.quick = body.quick, body.cost
    return code
