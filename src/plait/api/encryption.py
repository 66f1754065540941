"""The public facts about the keys that encrypt values at rest."""

from __future__ import annotations

from plait.kernel.ids import Millis

from .shape import Shape


class DataKeyShape(Shape, frozen=True, kw_only=True):
    id: str
    namespace: str
    created_at: Millis
    wrapped_by: str
    """What wraps it: a master key, or for a subject's key the namespace's data key."""
    subject: str | None = None
    erased_at: Millis | None = None


class DataKeyList(Shape, frozen=True, kw_only=True):
    master: str
    """The master key that wraps new keys."""
    keys: list[DataKeyShape]


class Rotation(Shape, frozen=True, kw_only=True):
    namespace: str
    key: str
    """The new data key."""
    master: str
    rewrapped: int
    """The number of keys that an older master key had wrapped."""
