"""`cadr`, `cddr`, .. `cddddr`: compositions of `car` and `cdr`, read from the right."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from types import GeneratorType
from typing import cast

from plait.scripts.ale.kinds import Suspended, Value
from plait.scripts.ale.limits import Meter

from .access import first, rest
from .shelf import Shelf

shelf = Shelf()


def _path(letters: str) -> Callable[[Meter, Value], Suspended]:
    steps = [first if letter == "a" else rest for letter in reversed(letters)]

    def follow(meter: Meter, value: Value) -> Suspended:
        for step in steps:
            value = step(meter, value)
            if type(value) is GeneratorType:
                value = yield from cast("Suspended", value)
        return value

    return follow


for _length in (2, 3, 4):
    for _letters in map("".join, product("ad", repeat=_length)):
        shelf.put(f"c{_letters}r", least=1, most=1, suspends=True)(_path(_letters))
