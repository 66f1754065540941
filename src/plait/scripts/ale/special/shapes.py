"""What special forms check about their parts, and how they say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from plait.scripts.ale.errors import AleCompileError, Place
from plait.scripts.ale.flat import finish
from plait.scripts.ale.forms import Form, ListForm, Name, VectorForm
from plait.scripts.ale.limits import DEFAULT, Meter
from plait.scripts.ale.printer import printed
from plait.scripts.ale.quoting import datum

_SHOWN = 100


def shown(form: Form) -> str:
    """A form in a message: its text, shortened."""
    meter = Meter(DEFAULT)
    text = printed(meter, finish(datum(meter, form)))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def invalid(what: str, form: Form) -> AleCompileError:
    return AleCompileError("bad_form", f"invalid {what}: {shown(form)}", form.place)


def counted(form: ListForm, least: int, most: int | None = None) -> Sequence[Form]:
    """The parts after the head, if there are as many as the form takes."""
    parts = form.items[1:]
    if len(parts) < least or (most is not None and len(parts) > most):
        raise invalid(f"{name_of(form)} form", form)
    return parts


def name_of(form: ListForm) -> str:
    head = form.items[0]
    return head.text if isinstance(head, Name) else ""


def two(what: str, form: Form) -> tuple[Form, Form]:
    """The parts of `[a b]`."""
    if not isinstance(form, VectorForm) or len(form.items) != 2:
        raise invalid(what, form)
    return form.items[0], form.items[1]


def bindings(form: Form) -> list[tuple[Form, Form]]:
    """Names and values of `[n v]` or `([n v] ..)`."""
    if isinstance(form, VectorForm):
        return [two("binding", form)]
    if isinstance(form, ListForm) and form.tail is None:
        return [two("binding", item) for item in form.items]
    raise invalid("binding", form)


def listed(place: Place, *parts: Form) -> ListForm:
    return ListForm(place, parts)


def special(place: Place, name: str, *parts: Form) -> ListForm:
    """A special form made by another one. Its name can't have been bound."""
    return ListForm(place, (Name(place, name), *parts))
