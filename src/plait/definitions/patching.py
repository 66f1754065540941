"""A new version by patch: what the current one says, changed, checked as if it had been written whole."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from plait.kernel import values
from plait.kernel.definitions import Description, Patched
from plait.kernel.errors import InvalidInput

from . import json_patch
from .hashing import content_hash


def patched(base: Description, operations: object, description: str) -> Description:
    """The draft of the version that follows; refuses what can't be applied."""
    found = json_patch.apply(base.content(), operations)
    body = values.decode(values.encode(found))  # as it will be read
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
    whole = base.body is None  # what was saved as text has nothing that a patch could lead on from
    return msgspec.structs.replace(
        base, version="", hash=content_hash(body), source="", body=body, patch=None if whole else patch
    )
