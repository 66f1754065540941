"""A volatile store: for tests and simulation."""

from .store import Faults, MemoryStore, Moment

__all__ = ["Faults", "MemoryStore", "Moment"]
