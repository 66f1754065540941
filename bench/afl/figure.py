"""One measured value and its limit."""

from __future__ import annotations

from dataclasses import dataclass

from bench.targets import Limit


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    limit: Limit

    @property
    def met(self) -> bool:
        return self.limit.met(self.value)
