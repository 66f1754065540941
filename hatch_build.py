"""Refuses to package Plait without what `make ui` builds: the web UI, and what removes types from TypeScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = {
    "the web UI": "src/plait/server/static/index.html",
    "the program that removes types from TypeScript": "src/plait/scripts/javascript/static/strip-types.js",
}


class NeedsUi(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install shows the working tree, where `make ui` may come later."""
        missing = [what for what, path in BUILT.items() if not (Path(self.root) / path).is_file()]
        if version != "editable" and missing:
            what = " and ".join(missing)
            raise SystemExit(f"{what} is not built, and a package without it is not complete. To fix: make ui")
