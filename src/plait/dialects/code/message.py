"""A message as a workflow receives it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Message(Generic[T]):
    """A message as a workflow receives it; the sender chose its id and its name."""

    id: str
    name: str
    body: T
    sent_at: datetime
