"""From the definition in a request to what the engine starts."""

from __future__ import annotations

from typing import Any

from plait.engine import Engine
from plait.kernel.bundle import Reference
from plait.kernel.errors import InvalidInput


def definition_of(engine: Engine, dialect: str | None, given: str | dict[str, Any]) -> Any:
    """A name, of the dialect that was sent with it or of any; or what its dialect reads."""
    if dialect is None and isinstance(given, str):
        return given
    dialect = dialect or engine.default_dialect
    must_know(engine, dialect)
    return Reference(dialect, given, given) if isinstance(given, str) else engine.read(dialect, given)


def must_know(engine: Engine, dialect: str) -> None:
    """A dialect in a body is part of what was sent: an unknown one makes it invalid."""
    if dialect not in engine.bundles:
        known = ", ".join(engine.bundles)
        raise InvalidInput("kernel.no_dialect", f"this engine has no dialect `{dialect}`", fix=f"use one of {known}")
