"""What the id in a path names. An id of another namespace gets the same answer as one that does not exist."""

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
    """The code of the error for an id that does not exist."""
    what: str
    """The text of that error; `{}` stands for the id."""
    why: str = ""
    fix: str = ""
    character: str = PRINTABLE
    """A regular expression for one character of an id."""
    max_length: int = 2000

    def usable(self, id: str) -> bool:
        """Whether this can be an id at all."""
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
