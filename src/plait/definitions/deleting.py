"""Deleting: a name is not there any more, for those who list, start or change definitions."""

from __future__ import annotations

from plait.kernel.errors import InvalidInput, NotFound

from .changes import Change, DefinitionDeleted
from .index import Index, current
from .numbering import MAIN
from .tags import Decide, check_expected


def delete(name: str, expected: str | None) -> Decide:
    """Of what is saved. Code is there for as long as a process has it loaded."""

    def decide(index: Index) -> list[Change]:
        if index.past(name).deleted:  # while this one was on its way
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
