"""How long ended runs and the audit log of a namespace are kept."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plait.kernel.ids import Millis
from plait.kernel.removal import EndedStatus

from .shape import Shape

Age = Annotated[Millis, Meta(ge=0)]
STATUSES: tuple[EndedStatus, ...] = ("completed", "failed", "cancelled")


class RetentionRules(Shape, frozen=True, kw_only=True):
    """Milliseconds since a run ended, by status; null keeps them for good."""

    completed: Age | None = None
    failed: Age | None = None
    cancelled: Age | None = None
    audit: Age | None = None
    """Milliseconds since an entry of the audit log was made."""
    archive: bool = False
    """Whether runs are archived before they are removed. An engine without an archive then removes none."""

    def age(self, status: EndedStatus) -> Millis | None:
        match status:
            case "completed":
                return self.completed
            case "failed":
                return self.failed
            case "cancelled":
                return self.cancelled


KEEP_ALL = RetentionRules()
