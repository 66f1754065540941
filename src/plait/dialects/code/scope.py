"""A scope: the root of a run, a branch, or a loop's iteration. A name is used once in each."""

from __future__ import annotations

import contextvars
import uuid
import zlib
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from .errors import EvictedError, WorkflowCodeError, foreign_await
from .host import MAX_CALLBACKS, Generators, Host, Operation
from .location import MAX_DEPTH, check_name, is_plain, segment

T = TypeVar("T")

_REFUSED_CALL = 100
"""Callbacks that a refused call counts as, so that code that keeps calling is stopped soon."""
_FOREIGN = ("attached to a different loop", "Task got bad yield", "await wasn't used with future")

current: contextvars.ContextVar[Scope | None] = contextvars.ContextVar("plait.scope", default=None)
"""The scope whose code is running. Tasks inherit it; step bodies have none."""


class Scope:
    __slots__ = ("_draws", "_names", "_tasks", "_timers", "dead", "depth", "generators", "path", "prefix", "replay")

    def __init__(self, replay: Host, path: str = "") -> None:
        self.replay = replay
        self.path = path
        self.prefix = f"{path}/" if path else ""
        self.depth = path.count("/") + 1 if path else 0
        self.dead = False
        """Whether the scope lost a race or was cancelled: its code may end, but do nothing more."""
        self.generators: Generators | None = None
        self._names: dict[str, Operation | None] = {}
        self._draws = 0
        self._tasks = 0
        self._timers = 0

    def claim(self, name: str, op: Operation) -> str:
        """Checks a call and returns the path of its operation."""
        if current.get() is not self or self.dead or self.replay.evicted:
            return self.refuse(op.kind, name)
        part = name if type(name) is str and is_plain(name) else segment(check_name(op.kind, name))
        if name in self._names:
            fix = f'write f"{name}:{{i}}", or use ctx.loop'
            return self._reject(WorkflowCodeError("DUPLICATE_NAME", f"`{name}` is used twice in {self.label}", fix=fix))
        if self.depth >= MAX_DEPTH:
            what, fix = f"{op.kind} `{name}` is nested {self.depth + 1} levels deep", f"use at most {MAX_DEPTH} levels"
            raise WorkflowCodeError("BAD_OPTION", what, fix=fix)
        self._names[name] = op
        return self.prefix + part

    def check(self, kind: str, name: str) -> None:
        """Like `claim`, for calls that are no operation and have no path."""
        if current.get() is not self or self.dead or self.replay.evicted:
            self.refuse(kind, name)

    def refuse(self, kind: str, name: str) -> str:
        """Rejects a call by code of another scope, or after this scope was cancelled or evicted."""
        what = f"{kind} `{name}`" if name else kind
        if self.replay.evicted:
            return self._reject(EvictedError(f"{what}: the run is no longer in memory here"))
        where, why = current.get(), f"it belongs to {self.label}"
        if where is None:
            who, fix = "a step", "do it in the workflow function, before or after the step"
        elif where is self:
            who, why = self.label, "that has ended or was cancelled"
            fix = f"do it after `{self.path.rpartition('/')[0]}`, with the ctx around it"
        else:
            who, fix = where.label, "use the ctx that the branch or body gets as its argument"
        return self._reject(WorkflowCodeError("WRONG_CTX", f"{what} can't be used in {who}", why=why, fix=fix))

    def _reject(self, error: BaseException) -> str:
        """Raises `error`. Code that catches it and retries endlessly gets a path in the end: of an operation that never
        completes, because nothing else would stop it."""
        replay = self.replay
        replay.loop.calls += _REFUSED_CALL
        if replay.loop.calls <= MAX_CALLBACKS:
            raise error
        if not (self.dead or replay.evicted):
            self.dead = replay.loop.stuck = True
        return f"{self.prefix}~refused"

    async def enter(self, code: Callable[[Scope], Awaitable[T]]) -> T:
        """Runs the code of this scope to its end."""
        try:
            result = await code(self)
        except RuntimeError as error:
            if any(words in str(error) for words in _FOREIGN):  # asyncio reports it in its own words
                raise foreign_await(str(error)) from None
            raise
        if self.generators is not None:
            await self.generators.close_all()
        self.check_all_awaited()
        return result

    def abandon(self) -> None:
        """Cancels what the scope left open, because its code has ended or was cancelled."""
        self.dead = True
        for op in [op for op in self._names.values() if op is not None]:
            if op.future is not None:
                op.future.cancel()

    def done(self, name: str) -> None:
        """Forgets a closed operation, except its name."""
        self._names[name] = None

    def task_number(self) -> int:
        """The hash of the next task of this scope: the same on every replay."""
        if not self._tasks:
            self._tasks = zlib.crc32(f"{self.replay.run_id}/{self.path}".encode())
        self._tasks += 1
        return self._tasks

    def timer_name(self) -> str:
        self._timers += 1
        return f"~timer.{self._timers - 1}"

    def child(self, part: str | int) -> Scope:
        return Scope(self.replay, self.prefix + segment(part))

    def check_all_awaited(self) -> None:
        """A scope must not end while one of its operations is open, or was created and never awaited."""
        for name, op in self._names.items():
            if op is not None and not op.settled:
                raise WorkflowCodeError(
                    "NOT_AWAITED",
                    f"{self.label} ended while {op.kind} `{name}` was not awaited",
                    fix=f"await {op.kind} `{name}`, {op.line}",
                )

    def random(self) -> Random:
        self.check("random", "")
        self._draws += 1
        return Random(f"{self.replay.history.seed}/{self.path}/{self._draws}")

    def uuid(self) -> uuid.UUID:
        return uuid.UUID(int=self.random().getrandbits(128), version=4)

    @property
    def label(self) -> str:
        return f"`{self.path}`" if self.path else "the workflow"
