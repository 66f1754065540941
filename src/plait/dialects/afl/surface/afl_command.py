"""`plait afl`: the tools of the language, one file each."""

from __future__ import annotations

from plait.cli.options import group

from .check_command import check
from .compile_command import compile_
from .format_command import format_
from .lsp_command import lsp
from .run_command import run

afl = group()


@afl.callback()
def default() -> None:
    """AFL programs. Every command but `lsp` takes --json."""


afl.command("check")(check)
afl.command("compile")(compile_)
afl.command("run")(run)
afl.command("fmt")(format_)
afl.command("lsp")(lsp)
