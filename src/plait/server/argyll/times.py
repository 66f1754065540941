"""Times as Go writes them: RFC 3339 with milliseconds, and year 1 for a time that is not set."""

from __future__ import annotations

from datetime import UTC, datetime

UNSET = "0001-01-01T00:00:00Z"


def moment(ms: int | None) -> str:
    if not ms:
        return UNSET
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
