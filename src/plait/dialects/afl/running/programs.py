"""Programs by the hash of their compiled form: read once, and shared by their runs."""

from __future__ import annotations

from typing import Final

import msgspec

from plait.dialects.afl.language.compile import program_hash
from plait.dialects.afl.program.program import Program, read_program
from plait.kernel.errors import Conflict

from .state import AflStart
from .versions import check_readable

_KEPT: Final = 256
_decode = msgspec.json.Decoder().decode


class Programs:
    def __init__(self) -> None:
        self._known: dict[str, Program] = {}

    def of(self, start: AflStart) -> Program:
        """Raises if this engine can't read the program: the run stays as it is until one can."""
        check_readable(start)
        found = self._known.get(start.hash)
        if found is None:
            compiled = _decode(start.compiled)
            if program_hash(compiled) != start.hash:
                raise Conflict(
                    "AFL_DEFINITION",
                    f"the compiled form of {start.workflow} is not the one that the run started with",
                    why="its hash differs: it was altered",
                    fix="restore the database from a backup",
                )
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[start.hash] = read_program(compiled)
        return found
