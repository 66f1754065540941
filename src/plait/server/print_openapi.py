"""Print the OpenAPI document: `python -m plait.server.print_openapi`. The types of the web UI are generated from it."""

from __future__ import annotations

import sys

import msgspec

from .app import ROUTES
from .openapi import document


def main() -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document(ROUTES))) + b"\n")


if __name__ == "__main__":
    main()
