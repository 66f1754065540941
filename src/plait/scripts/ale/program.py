"""Compiles a whole text: its forms in order, with their definitions."""

from __future__ import annotations

from collections.abc import Sequence

from . import nodes
from .compiler import Compiler
from .environment import bindable, special
from .errors import AleCompileError
from .flat import Task, finish
from .forms import Form, ListForm
from .kinds import Case
from .nodes import Node
from .special import FORMS
from .special.lambdas import defined


def compile_script(forms: Sequence[Form], parameters: Sequence[str]) -> Case:
    """The whole text as the body of a procedure with these parameters."""
    return finish(_script(Compiler(FORMS), forms, parameters))


def _script(compiler: Compiler, forms: Sequence[Form], parameters: Sequence[str]) -> Task[Case]:
    if not forms:
        raise AleCompileError("empty", "the script is empty", (1, 1))
    with compiler.names.frame():
        for name in parameters:
            compiler.names.bind(name)
        parts: list[Node] = []
        for form in forms:
            if isinstance(form, ListForm) and form.items and special(form.items[0]) == "define":
                parts += yield _definition(compiler, form, last=form is forms[-1])
            else:
                parts.append((yield compiler.form(form)))
        return compiler.case(nodes.sequential((1, 1), parts), len(parameters), False)


def _definition(compiler: Compiler, form: ListForm, *, last: bool) -> Task[list[Node]]:
    """`define` at the top level: a name for the rest of the script."""
    name, value = defined(form)
    text = bindable(name)
    slot = compiler.names.bind(text, early=True)
    made: Node = yield compiler.form(value)
    parts: list[Node] = [nodes.assignment(form.place, slot, made)]
    return [*parts, nodes.local(form.place, 0, slot)] if last else parts
