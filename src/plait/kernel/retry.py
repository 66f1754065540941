"""The one retry policy, for the tasks of every dialect. Durations are seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from .errors import InvalidInput

Backoff = Literal["fixed", "linear", "exponential"]

MAX_ATTEMPTS = 1000
UNLIMITED = 2**31
"""No limit on attempts."""
MAX_CAP = 86_400.0
DEFAULT_CAP = 30.0


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a task is tried in total, and how long to wait between tries.

    The wait after failed attempt n is `first` (fixed), `first * n` (linear) or
    `first * factor ** (n - 1)` (exponential), at most `cap`; `jitter` subtracts up to that share.
    Errors of the types in `never` are final at once.
    """

    max_attempts: int = 3
    backoff: Backoff = "exponential"
    first: float = 0.2
    factor: float = 2.0
    cap: float = DEFAULT_CAP
    jitter: float = 0.0
    never: tuple[type[BaseException], ...] = ()

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise InvalidInput("kernel.bad_retry", problem[0], fix=problem[1])

    def _problem(self) -> tuple[str, str] | None:
        numbers = (self.first, self.factor, self.cap, self.jitter)
        if type(self.max_attempts) is not int or not all(map(_is_number, numbers)):
            what = f"max_attempts={self.max_attempts!r}, first, factor, cap, jitter={numbers}"
            return what, "use a whole number of attempts, and numbers for the rest"
        if not 1 <= self.max_attempts <= MAX_ATTEMPTS and self.max_attempts != UNLIMITED:
            return f"max_attempts={self.max_attempts}", f"use 1 to {MAX_ATTEMPTS}; 1 means no retry"
        if self.backoff not in ("fixed", "linear", "exponential"):
            return f"backoff={self.backoff!r}", "use fixed, linear or exponential"
        if not (0 <= self.first <= MAX_CAP and 0 <= self.cap <= MAX_CAP):
            return f"first={self.first}, cap={self.cap}", "use 0 to 86400 seconds"
        if self.first > self.cap == DEFAULT_CAP:  # cap is at its default, and not meant to shorten the first wait
            return f"first={self.first} is more than cap={self.cap}", "raise cap to the longest wait you want"
        if not (1 <= self.factor <= 100 and 0 <= self.jitter <= 1):
            return f"factor={self.factor}, jitter={self.jitter}", "use a factor of 1 to 100, a jitter of 0 to 1"
        if type(self.never) is not tuple or not all(map(_is_error_type, self.never)):
            return f"never={self.never!r}", "use a tuple of exception classes, such as (ValueError,)"
        return None

    def delay(self, failed_attempt: int, fraction: float = 0.0) -> float:
        """Seconds to wait after attempt number `failed_attempt`; `fraction` is a random number in [0, 1)."""
        match self.backoff:
            case "fixed":
                wait = self.first
            case "linear":
                wait = self.first * failed_attempt
            case "exponential":
                # 64 doublings pass any cap; a larger power would overflow a float
                wait = self.first * self.factor ** min(failed_attempt - 1, 64)
            case _:
                assert_never(self.backoff)
        return min(self.cap, wait) * (1 - self.jitter * fraction)


def _is_number(found: object) -> bool:
    return isinstance(found, int | float)


def _is_error_type(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)


ONCE = Retry(max_attempts=1)
