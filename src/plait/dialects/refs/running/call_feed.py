"""The log of a recording as a list of its calls, with the step of each: short, for clients that look for one."""

from __future__ import annotations

from typing import Final

from plait.kernel.events import Recorded

FEED: Final = "calls"


def calls(event: Recorded) -> Recorded | None:
    if event.type != "call.recorded":
        return None
    return Recorded(event.seq, event.at, event.type, {"step": event.data["step"], "call": event.data.get("call", "")})
