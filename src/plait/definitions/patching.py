"""Makes a new version by a patch of the current one, checked as if it had been written whole."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from plait.kernel import values
from plait.kernel.definitions import Description, Patched
from plait.kernel.errors import InvalidInput

from . import json_patch
from .hashing import content_hash


def patched(base: Description, operations: object, description: str) -> Description:
    """Returns the draft of the next version; refuses operations that can't be applied."""
    found = json_patch.apply(base.content(), operations)
    body = values.decode(values.encode(found))  # as readers will get it
    if not isinstance(body, dict):
        raise InvalidInput(
            "definitions.bad_content", f"`{base.name}` would not be a JSON object", fix="patch its fields"
        )
    patch = Patched(
        base=base.version,
        base_hash=base.hash,
        operations=cast("list[dict[str, Any]]", msgspec.to_builtins(operations)),
        description=values.text("the description", description),
    )
    whole = base.body is None  # a version saved as text can't be the base of a chain
    return msgspec.structs.replace(
        base, version="", hash=content_hash(body), source="", body=body, patch=None if whole else patch
    )
