"""What the id in a path names. A foreign id gets the same answer as one that does not exist."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plait.kernel.errors import NotFound

PRINTABLE = r"[^\x00-\x1f\x7f]"
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Noun:
    name: str
    code: str
    """Of the error when there is no such thing."""
    what: str
    """`{}` is the id."""
    why: str = ""
    fix: str = ""
    character: str = PRINTABLE
    """A regular expression for one character of an id."""
    max_length: int = 2000

    def usable(self, id: str) -> bool:
        """Whether something can have this id at all."""
        shape = f"{self.character}{{1,{self.max_length}}}"
        return re.fullmatch(shape, id) is not None and _SURROGATES.search(id) is None

    def missing(self, id: str) -> NotFound:
        return NotFound(self.code, self.what.format(id[:200]), why=self.why, fix=self.fix)


RUN = Noun(
    "run",
    "kernel.no_run",
    "there is no run {}",
    fix="`plait runs` lists them",
    character=r"[^/\x00-\x1f\x7f]",
    max_length=200,
)
