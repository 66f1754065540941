"""The core names: constants, and functions by theme."""

from __future__ import annotations

import math

from plait.scripts.ale.kinds import Value

from . import access, arithmetic, building, combining, folding, logic, paths, predicates, streams, text

CORE: dict[str, Value] = {
    "true": True,
    "false": False,
    "null": None,
    "+inf": math.inf,
    "-inf": -math.inf,
    "nan": math.nan,
    **arithmetic.shelf.functions,
    **logic.shelf.functions,
    **predicates.shelf.functions,
    **building.shelf.functions,
    **access.shelf.functions,
    **paths.shelf.functions,
    **streams.shelf.functions,
    **folding.shelf.functions,
    **combining.shelf.functions,
    **text.shelf.functions,
}
