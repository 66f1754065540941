"""The engine: the one place that wires stores, dialects, workers and the kernel together."""

from .engine import Engine
from .handle import Handle

__all__ = ["Engine", "Handle"]
