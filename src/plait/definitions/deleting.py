"""Deletes a name, so that it can't be listed, started or changed any more."""

from __future__ import annotations

from plait.kernel.errors import InvalidInput, NotFound

from .changes import Change, DefinitionDeleted
from .index import Index, current
from .numbering import MAIN
from .tags import Decide, check_expected


def delete(name: str, expected: str | None) -> Decide:
    """Decides the deletion of a saved definition. Code exists for as long as a process has it loaded."""

    def decide(index: Index) -> list[Change]:
        if index.past(name).deleted:  # by another process meanwhile
            raise NotFound("definitions.unknown", f"there is no definition `{name}`", why="it was deleted")
        meant = current(index.history(name))
        if meant is None:
            raise InvalidInput(
                "definitions.not_deletable",
                f"`{name}` is code, which nobody has saved",
                fix="take it out of its module",
            )
        check_expected(name, MAIN, meant.version, expected)
        return [DefinitionDeleted(name)]

    return decide
