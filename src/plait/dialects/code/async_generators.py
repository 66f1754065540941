"""Async generators of a workflow's code: closed on its own loop, at a point that is the same on every replay.

A generator that the code drops is closed at once, in a task of the scope that started it. One that is dropped by the
garbage collector, at an unpredictable time, is closed when that scope ends, as is one that is still alive then. Python
reports generators to hooks of the thread: ours see every generator, and pass those of other code to the previous hooks.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import weakref
from collections.abc import AsyncGenerator, Callable
from typing import Any

from .scope import Scope, current

Generator = AsyncGenerator[Any, Any]
_Hook = Callable[[Generator], None]


class AsyncGenerators:
    """The generators that the code of one scope has started."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._count = 0
        self._begun: dict[int, weakref.ref[Generator]] = {}
        self._found: dict[int, Generator] = {}
        """Generators that the garbage collector found."""
        self._closing: list[asyncio.Task[None]] = []

    def begin(self, generator: Generator) -> int:
        self._count += 1
        self._begun[self._count] = weakref.ref(generator)
        return self._count

    def drop(self, number: int, generator: Generator) -> None:
        scope = self._scope
        loop: Any = scope.replay.loop
        if scope.dead or scope.replay.evicted:
            _close_now(generator)
        elif _collecting or asyncio._get_running_loop() is not loop:
            self._found[number] = generator
        else:
            context = contextvars.copy_context()
            context.run(current.set, scope)
            self._closing.append(context.run(loop.create_task, generator.aclose()))

    async def close_all(self) -> None:
        """Called when the scope ends: awaits closings under way, then closes the other generators in starting order."""
        while self._closing:
            await self._closing.pop(0)
        begun, self._begun = self._begun, {}
        for number, reference in begun.items():
            generator: Any = self._found.pop(number, None) or reference()
            if generator is not None and not generator.ag_running:
                await generator.aclose()
        if self._closing or self._begun:  # closing them may start others
            await self.close_all()


def _close_now(generator: Generator) -> None:
    """Closes without waiting, because the run is gone; synchronous code in a `finally` still runs."""
    closing: Any = generator.aclose()
    try:
        closing.send(None)
        closing.close()
    except BaseException:  # its code may raise anything
        return


class _Hooks:
    def __init__(self, first: _Hook | None, final: _Hook | None) -> None:
        self._first = first
        self._final = final

    def first(self, generator: Generator) -> None:
        scope = current.get()
        _owners.pop(id(generator), None)
        if scope is None:
            if self._first is not None:
                self._first(generator)
            return
        if _note_collection not in gc.callbacks:
            gc.callbacks.append(_note_collection)
        generators = scope.generators
        if not isinstance(generators, AsyncGenerators):
            generators = scope.generators = AsyncGenerators(scope)
        _owners[id(generator)] = weakref.ref(generators), generators.begin(generator)

    def final(self, generator: Generator) -> None:
        owner = _owners.pop(id(generator), None)
        if owner is None:
            if self._final is not None:
                self._final(generator)
        elif (generators := owner[0]()) is not None:
            generators.drop(owner[1], generator)
        else:
            _close_now(generator)


def watch() -> None:
    """Sets the hooks of this thread; needed once for each run of its event loop."""
    outer = sys.get_asyncgen_hooks()
    if not isinstance(getattr(outer.firstiter, "__self__", None), _Hooks):
        hooks = _Hooks(outer.firstiter, outer.finalizer)
        sys.set_asyncgen_hooks(hooks.first, hooks.final)


_owners: dict[int, tuple[weakref.ref[AsyncGenerators], int]] = {}
"""Scopes by the id of their generators. Every generator is seen when it starts, so a reused id is never stale."""
_collecting = False


def _note_collection(phase: str, _: object) -> None:
    global _collecting
    _collecting = phase == "start"
