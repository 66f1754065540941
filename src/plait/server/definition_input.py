"""From the definition in a request to what the engine starts."""

from __future__ import annotations

from typing import Any

from plait.engine import Engine
from plait.kernel.errors import InvalidInput


async def definition_of(engine: Engine, dialect: str | None, given: str | dict[str, Any], namespace: str) -> Any:
    """A name whose tag, if it has one, is resolved to a version; or what its dialect reads."""
    dialect = dialect or engine.default_dialect
    must_know(engine, dialect)
    found = await engine.definitions.resolve(given, namespace) if isinstance(given, str) else given
    return engine.read(dialect, found)


def must_know(engine: Engine, dialect: str) -> None:
    """A dialect in a body is part of what was sent: an unknown one makes it invalid."""
    if dialect not in engine.bundles:
        known = ", ".join(engine.bundles)
        raise InvalidInput("kernel.no_dialect", f"this engine has no dialect `{dialect}`", fix=f"use one of {known}")
