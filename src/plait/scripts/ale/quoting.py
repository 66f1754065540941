"""Turns forms into values, for `quote`."""

from __future__ import annotations

from . import keys
from .flat import Task
from .forms import Form, Group, ListForm, Literal, Name, ObjectForm, SetForm, VectorForm
from .kinds import Object, Set, Symbol, Value, pair, to_list, to_vector
from .limits import Meter


def datum(meter: Meter, form: Form) -> Task[Value]:
    match form:
        case Literal():
            return form.value
        case Name():
            return Symbol(form.text)
        case Group():
            items: list[Value] = []
            for item in form.items:
                items.append((yield datum(meter, item)))
            if isinstance(form, ListForm) and form.tail is not None:
                result = yield datum(meter, form.tail)
                for item in reversed(items):
                    result = pair(item, result)
                return result
            return _collection(meter, form, items)
        case _:
            raise AssertionError(form)


def _collection(meter: Meter, form: Group, items: list[Value]) -> Value:
    match form:
        case VectorForm():
            return to_vector(tuple(items))
        case ObjectForm():
            return Object(keys.entries(meter, items))
        case SetForm():
            return Set(dict.fromkeys(keys.as_key(meter, item) for item in items))
        case _:
            return to_list(items)
