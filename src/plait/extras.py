"""Explains that an optional package is missing. `pip install plait` installs the kernel, SQLite and the `code`
dialect; everything else is an extra, and is imported where it is used:

    with extra("http", "HTTP steps"):
        import httpcore

If a package is not installed, the error names it and tells how to install it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from plait.kernel.errors import PlaitError

Extra = Literal[
    "afl",
    "agents",
    "cli",
    "client",
    "dask",
    "encryption",
    "http",
    "kubernetes",
    "lmdb",
    "lsp",
    "mcp",
    "otel",
    "postgres",
    "ray",
    "redis",
    "s3",
    "scripts",
    "server",
    "tables",
]


class MissingExtra(PlaitError):
    """An optional package is not installed; `fix` is the command that installs it."""

    status = 501

    def __init__(self, name: Extra, what: str, package: str, *, instead: str = "") -> None:
        super().__init__(
            "plait.missing_extra",
            f"{what} needs the extra `{name}` of Plait",
            why=f"the package {package} is not installed",
            fix=f"pip install 'plait[{name}]'" + (f", or {instead}" if instead else ""),
        )


@contextmanager
def extra(name: Extra, what: str, *, instead: str = "") -> Generator[None]:
    """A context for imports that `what` needs and the extra `name` provides. `instead`: an alternative to suggest."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "plait"):
            raise
        raise MissingExtra(name, what, package, instead=instead) from error
