"""Async generators of a workflow's code: closed on its own loop, at a moment that is the same on every replay.

One that the code drops is closed at once, as a task of the scope that began it. What only the garbage collector finds,
at a time of its own, is closed when that scope ends; so is what nobody has found until then. Python asks hooks of the
thread for this: ours see every generator, and leave those that are not a workflow's to whoever had set hooks before.
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
    """Those that the code of one scope has begun."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._count = 0
        self._begun: dict[int, weakref.ref[Generator]] = {}
        self._found: dict[int, Generator] = {}
        """By the garbage collector."""
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
        """The scope ends: waits for those that are being closed, and closes the others in the order they began."""
        while self._closing:
            await self._closing.pop(0)
        begun, self._begun = self._begun, {}
        for number, reference in begun.items():
            generator: Any = self._found.pop(number, None) or reference()
            if generator is not None and not generator.ag_running:
                await generator.aclose()
        if self._closing or self._begun:  # closing them may begin others
            await self.close_all()


def _close_now(generator: Generator) -> None:
    """Its run is not here any more: plain code in a `finally` may run, and is not waited for."""
    closing: Any = generator.aclose()
    try:
        closing.send(None)
        closing.close()
    except BaseException:  # it may do anything
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
    """Sets the hooks of this thread, once for each time that its event loop is run."""
    outer = sys.get_asyncgen_hooks()
    if not isinstance(getattr(outer.firstiter, "__self__", None), _Hooks):
        hooks = _Hooks(outer.firstiter, outer.finalizer)
        sys.set_asyncgen_hooks(hooks.first, hooks.final)


_owners: dict[int, tuple[weakref.ref[AsyncGenerators], int]] = {}
"""By the id of a generator. Each is seen when it begins, so an id never stands for one that was here before."""
_collecting = False


def _note_collection(phase: str, _: object) -> None:
    global _collecting
    _collecting = phase == "start"
