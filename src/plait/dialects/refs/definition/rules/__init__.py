"""The rules of section 2: each checks a definition and notes flaws or warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from plait.definitions.flaws import MOST, Note
from plait.dialects.refs.definition.examined import Examined

from .cycles import cycles
from .names import names
from .references import references
from .schemas import schemas
from .shape import foreach, inputs, presets, returns
from .size import size
from .warnings import warnings

Rule = Callable[[Examined], Iterable[Note]]

RULES: tuple[Rule, ...] = (size, names, inputs, returns, foreach, references, cycles, schemas, presets)


def flaws(examined: Examined) -> list[Note]:
    return list(islice((note for rule in RULES for note in rule(examined)), MOST))


def remarks(examined: Examined) -> list[Note]:
    return list(warnings(examined))
