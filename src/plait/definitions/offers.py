"""Names that definitions offer besides their own: the workflows of a program. They share the versions and tags of the
definition that contains them, which is what is saved, tagged and deleted."""

from __future__ import annotations

import msgspec

from plait.kernel.bundle import Bundle, LooksInside
from plait.kernel.definitions import Description
from plait.kernel.errors import Conflict, NotFound

from .hashing import content_hash
from .index import History, Index, last


async def with_contents(bundle: Bundle, draft: Description, namespace: str) -> Description:
    """Adds to a definition that is about to be saved what its dialect finds in it."""
    if not isinstance(bundle, LooksInside):
        return draft
    given = draft.content()
    found = await bundle.contents(given, namespace)
    if found.definition != given:  # the patch would not produce it
        draft = msgspec.structs.replace(
            draft, body=found.definition, source="", hash=content_hash(found.definition), patch=None
        )
    return msgspec.structs.replace(
        draft,
        doc=draft.doc or found.doc,
        input_schema=found.input_schema if draft.input_schema is None else draft.input_schema,
        output_schema=found.output_schema if draft.output_schema is None else draft.output_schema,
        offers=found.offers,
    )


def check_own(name: str, index: Index) -> None:
    """Refuses to change a name that only exists as a part of another definition."""
    owner = next((each.owner for each in index.history(name).versions), "")
    if owner:
        raise Conflict(
            "definitions.not_its_own",
            f"`{name}` is a part of the definition `{owner}`",
            why="it has the versions and tags of that",
            fix=f"change `{owner}`",
        )


def check_one_owner(name: str, index: Index) -> None:
    owners = index.owners(name)
    if len(owners) > 1:
        raise Conflict(
            "definitions.ambiguous_name",
            f"`{name}` is a part of several definitions",
            why=", ".join(owners[:10]),
            fix=f"save the one that is meant under the name `{name}`",
        )


def withdrawn(name: str, history: History) -> NotFound:
    """Makes the error for a name that an earlier version of a definition offered and the current one does not."""
    found = last(history)
    owner, version = ("", "") if found is None else (found.owner, found.version)
    return NotFound(
        "definitions.unknown",
        f"`{owner}` has no `{name}` any more",
        why=f"version {version} was the last to have it",
        fix=f"name that version: `{name}@{version}`",
    )
