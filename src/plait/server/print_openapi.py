"""Print the OpenAPI document: `python -m plait.server.print_openapi`. The types of the web UI are generated from it."""

from __future__ import annotations

import sys

import msgspec

from plait.registry.engine import Engine

from .app import all_routes
from .openapi import document
from .surfaces import surfaces_of


def main() -> None:
    sys.stdout.buffer.write(
        msgspec.json.format(msgspec.json.encode(document(all_routes(surfaces_of(Engine("memory:")))))) + b"\n"
    )


if __name__ == "__main__":
    main()
