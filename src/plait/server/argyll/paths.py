"""The paths that belong to the mount, whether it is on or off."""

from __future__ import annotations

ENGINE, WEBHOOK, LIVE = "/engine", "/webhook", "/engine/ws"


def is_mounted(path: str) -> bool:
    return path in (ENGINE, WEBHOOK) or path.startswith((f"{ENGINE}/", f"{WEBHOOK}/"))
