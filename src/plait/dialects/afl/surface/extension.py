"""AFL on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from plait.cli.extension import Checked, CheckRequest, Extension, Startable
from plait.dialects.afl.definition import Afl
from plait.dialects.afl.language.loading import SUFFIXES


class AflExtension(Extension):
    noun = "AFL workflow"
    declares = "AFL programs"
    suffixes = SUFFIXES
    named_inputs = True

    def declared(self, module: ModuleType) -> Mapping[str, object]:
        return {name: found for name, found in vars(module).items() if isinstance(found, Afl)}

    def functions(self, module: ModuleType) -> Iterable[object]:
        from .registrations import registrations

        return registrations(module)

    def startable(self, found: Sequence[object]) -> Startable | None:
        return found[0] if len(found) == 1 and isinstance(found[0], Afl) else None

    def recognises(self, content: Mapping[str, Any]) -> bool:
        return isinstance(content.get("sources"), list) or "compiled" in content

    def content(self, path: Path) -> dict[str, Any] | None:
        if not path.is_dir() and path.suffix not in SUFFIXES:
            return None
        from .program_options import read_program_files

        return {"sources": [{"name": each.name, "text": each.text} for each in read_program_files([path], None)]}

    def definition(self, content: dict[str, Any]) -> Afl:
        return Afl(content)

    async def check(self, request: CheckRequest) -> Checked | None:
        from .check_programs import check_files

        return check_files([Path(each) for each in request.files]) if request.files else None
