"""A checked request, ready to be sent."""

from __future__ import annotations

import msgspec

from .body import Meter
from .redirects import Hop


class Sending(msgspec.Struct, frozen=True):
    """A request and its limits, over all its hops."""

    first: Hop
    follow: bool
    seconds: float
    max_bytes: int
    began: float
    meter: Meter
