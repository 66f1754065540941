"""`plait afl lsp`: the language server for editors, on stdin and stdout."""

from __future__ import annotations


def lsp() -> None:
    """Start the language server on stdin and stdout, for an editor to talk to."""
    from plait.kernel.version import __version__

    from .editor.server import make_server

    make_server(__version__).start_io()
