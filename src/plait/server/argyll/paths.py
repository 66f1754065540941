"""Which paths are the mount's, be it on or off."""

from __future__ import annotations

ENGINE, WEBHOOK, LIVE = "/engine", "/webhook", "/engine/ws"


def is_mounted(path: str) -> bool:
    return is_engine(path) or path == WEBHOOK or path.startswith(f"{WEBHOOK}/")


def is_engine(path: str) -> bool:
    """What asks for no proof at all; the addresses of webhooks are signed."""
    return path == ENGINE or path.startswith(f"{ENGINE}/")
