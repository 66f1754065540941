"""AFL on the command line."""

from __future__ import annotations

from pathlib import Path

from plait.cli.extension import Checked, CheckRequest, Extension
from plait.dialects.afl.language.loading import SUFFIXES


class AflExtension(Extension):
    noun = "AFL workflow"
    declares = "AFL programs"
    suffixes = SUFFIXES

    async def check(self, request: CheckRequest) -> Checked | None:
        from .check_programs import check_files

        return check_files([Path(each) for each in request.files]) if request.files else None
