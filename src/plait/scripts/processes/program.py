"""What runs in the processes of one language."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from plait.extras import MissingExtra


@dataclass(frozen=True, slots=True)
class Program:
    language: str
    """As people write it."""
    code: str
    """The first part of its error codes."""
    folder: Path
    """Holds the package `sandbox`, with `Interpreter` in its module `interpreter`."""
    package: str
    """That the sandbox imports; the extra `scripts` brings it."""

    def paths(self) -> list[str]:
        """Where a process finds its modules, beside the standard library."""
        spec = find_spec(self.package)
        if spec is None or spec.origin is None:
            raise MissingExtra("scripts", self.language, self.package)
        place = Path(spec.origin).parent
        if spec.submodule_search_locations is not None:
            place = place.parent
        return [str(Path(__file__).parent), str(self.folder), os.fspath(place)]
