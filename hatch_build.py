"""Refuses to package Plait without its web UI: everyone who installs it would see a page that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/plait/server/static/index.html"


class NeedsUi(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install shows the working tree, where `make ui` may come later."""
        if version != "editable" and not (Path(self.root) / PAGE).is_file():
            raise SystemExit("the web UI is not built, and a package without it is not complete. To fix: make ui")
