"""The program that runs in the processes of one language."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from plait.extras import MissingExtra


@dataclass(frozen=True, slots=True)
class Program:
    language: str
    """The language's display name."""
    code: str
    """The first part of its error codes."""
    folder: Path
    """Contains the package `sandbox`, with `Interpreter` in its module `interpreter`."""
    package: str
    """The package that the sandbox imports; the extra `scripts` installs it."""

    def paths(self) -> list[str]:
        """Module search paths of a process, in addition to the standard library."""
        spec = find_spec(self.package)
        if spec is None or spec.origin is None:
            raise MissingExtra("scripts", self.language, self.package)
        place = Path(spec.origin).parent
        if spec.submodule_search_locations is not None:
            place = place.parent
        return [str(Path(__file__).parent), str(self.folder), os.fspath(place)]
