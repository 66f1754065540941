"""Branches side by side: `ctx.join` waits for all of them, `ctx.race` for the first to complete.

Branches end during turns; the outcome is settled after the turn, in the order in which the branches are
listed, so that two that end in the same turn are judged alike on every replay.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic

from plait.kernel import values
from plait.kernel.errors import ErrorInfo, PlaitError
from plait.kernel.values import ABSENT

from .errors import StepError, WorkflowCodeError, branches_text, to_info
from .events import BranchClosed, OpOpened
from .hints import return_type
from .location import check_name
from .op import Op
from .op_state import Branch as BranchState
from .op_state import OpState
from .result_check import check_result
from .scope import Scope, current

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # for `default`, with which `Results` and `Won` need no type argument

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")

Branch = Callable[[Any], Awaitable[Any]]
NewContext = Callable[[Scope], Any]
"""Makes the `Context` of a branch."""

MAX_BRANCHES = 10_000


class Results(dict[str, T]):
    """The results of a join, by branch: `results["tax"]` or `results.tax`. To a type checker the first has the common
    type of the branches, the second is `Any`. A branch may be called `items` or `keys`."""

    def __getattribute__(self, name: str) -> Any:
        return self[name] if name in self else super().__getattribute__(name)


@dataclass(frozen=True, slots=True)
class Won(Generic[T]):
    """The outcome of a race: the branch that won, and its result."""

    winner: str
    value: T


class _Branching(Op[Any]):
    """The common part of join and race: their branches as tasks, each in its own scope."""

    __slots__ = ("_branches", "_context", "_scopes", "_tasks", "_types")

    def __init__(
        self, scope: Scope, name: str, branches: Mapping[str, Branch], context: NewContext, depth: int = 3
    ) -> None:
        if len(branches) > MAX_BRANCHES:
            raise _bad_branch(name, f"it has {len(branches)} branches", f"use at most {MAX_BRANCHES}")
        for key, branch in branches.items():
            check_name("branch", key)
            if not callable(branch):
                raise _bad_branch(name, f"branch `{key}` is not a function", "pass the function, not `fn(ctx)`")
        super().__init__(scope, name, depth)
        self._branches = branches
        self._context = context
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._scopes: dict[str, Scope] = {}
        self._types: dict[str, Any] = {}

    def opened(self) -> OpOpened:
        return OpOpened(self.at, self.kind, self.scope.replay.after, branches=list(self._branches))

    def misfit(self, state: OpState) -> str | None:
        recorded, asked = sorted(state.branches or ()), sorted(self._branches)
        return None if recorded == asked else f"{self.kind} with branches {', '.join(recorded)}"

    @property
    def words(self) -> str:
        return f"{super().words} with branches {', '.join(sorted(self._branches))}"

    def begin(self, state: OpState) -> None:
        self.resume(state)

    def resume(self, state: OpState) -> None:
        replay = self.scope.replay
        for key in self._branches:
            if replay.collecting or self._recorded(state, key).status == "open":
                self._spawn(key)
        replay.unsettled.append(self)  # all branches may have ended already: a fork can cut a decision in two

    def settle(self, state: OpState) -> None:
        """Called after each turn: records which branches ended, and closes the operation if that decides it."""
        raise NotImplementedError

    def revoke(self) -> None:
        for key, task in self._tasks.items():
            self._scopes[key].abandon()
            task.cancel()

    def _spawn(self, key: str) -> None:
        replay = self.scope.replay
        scope = self._scopes[key] = Scope(replay, self.at).child(key)
        context = contextvars.copy_context()
        context.run(current.set, scope)
        task = replay.loop.spawn(scope.enter(partial(self._call, key)), context)
        task.add_done_callback(self._ended)
        self._tasks[key] = task

    def _ended(self, _: object) -> None:
        self.scope.replay.unsettled.append(self)

    def _call(self, key: str, scope: Scope) -> Awaitable[Any]:
        branch = self._branches[key]
        awaitable: Any = branch(self._context(scope))
        if not inspect.isawaitable(awaitable):
            raise _bad_branch(self.name, f"branch `{key}` returned nothing to await", "make it an async function")
        self._types[key] = awaitable.returns if isinstance(awaitable, Op) else return_type(branch)
        return awaitable

    def _type(self, key: str) -> Any:
        """The result type of a branch whose body was not entered: read from what it would await."""
        if key not in self._types:
            scope = Scope(self.scope.replay, self.at).child(key)
            context = contextvars.copy_context()
            context.run(current.set, scope)
            awaitable = context.run(self._call, key, scope)
            close = getattr(awaitable, "close", None)
            if close is not None:
                close()
        return self._types[key]

    def _record_ends(self, state: OpState) -> None:
        for key, task in self._tasks.items():
            if task.done() and self._recorded(state, key).status == "open":
                self.scope.replay.record(self._end(key, task))

    def _end(self, key: str, task: asyncio.Task[Any]) -> BranchClosed:
        """The outcome of a branch; operations that a failed branch left open are cancelled."""
        self._scopes[key].abandon()
        cancelled = StepError(f"branch `{key}` was cancelled by its own code")
        error = cancelled if task.cancelled() else task.exception()
        raw = ABSENT
        if error is None:
            try:
                raw = values.encode(task.result(), max_bytes=self.scope.replay.around.max_payload)
                check_result(f"branch `{key}`", self._types.get(key, Any), task.result(), raw)
            except TypeError as misfit:
                error = misfit
            except PlaitError as problem:
                error = WorkflowCodeError("NOT_ENCODABLE", f"the result of branch `{key}`", why=str(problem))
        if error is None:
            return BranchClosed(self.at, key, "completed", raw)
        return BranchClosed(self.at, key, "failed", error=to_info(error))

    def _recorded(self, state: OpState, key: str) -> BranchState:
        return (state.branches or {}).get(key, BranchState())

    def _decode(self, state: OpState, key: str) -> Any:
        output = self._recorded(state, key).output
        return values.decode(output, self._type(key)) if output else None

    def _errors(self, state: OpState) -> dict[str, ErrorInfo]:
        return {k: b.error for k, b in (state.branches or {}).items() if b.status == "failed" and b.error is not None}

    def _rollback(self, state: OpState) -> ErrorInfo | None:
        return next((error for error in self._errors(state).values() if error.kind == "rollback"), None)


class JoinOp(_Branching):
    kind = "join"
    __slots__ = ()

    def settle(self, state: OpState) -> None:
        replay = self.scope.replay
        self._record_ends(state)
        rollback = self._rollback(state)
        if rollback is not None:  # does not wait for the siblings
            self.revoke()
            replay.close(self.at, error=rollback)
        elif all(branch.status != "open" for branch in (state.branches or {}).values()):
            errors = self._errors(state)
            replay.close(self.at, error=_group("join", self.name, errors) if errors else None)

    def value(self, state: OpState) -> Results[Any]:
        return Results({key: self._decode(state, key) for key in self._branches})


class RaceOp(_Branching):
    kind = "race"
    __slots__ = ()

    def __init__(self, scope: Scope, name: str, branches: Mapping[str, Branch], context: NewContext) -> None:
        if not branches:
            raise _bad_branch(name, "a race without branches has no winner", "give it at least one")
        super().__init__(scope, name, branches, context, depth=4)

    def settle(self, state: OpState) -> None:
        replay = self.scope.replay
        self._record_ends(state)
        branches = state.branches or {}
        winner = next((key for key in self._branches if branches[key].status == "completed"), None)
        rollback = self._rollback(state)
        if rollback is not None:
            self.revoke()
            replay.close(self.at, error=rollback)
        elif winner is not None:
            self.revoke()
            replay.close(self.at, winner=winner)
        elif all(branch.status == "failed" for branch in branches.values()):
            replay.close(self.at, error=_group("race", self.name, self._errors(state)))

    def value(self, state: OpState) -> Won[Any]:
        winner = state.winner or ""
        return Won(winner, self._decode(state, winner))


def _bad_branch(name: str, why: str, fix: str) -> WorkflowCodeError:
    return WorkflowCodeError("BRANCH", f"`{name}` can't run", fix=fix, why=why)


def _group(kind: str, name: str, errors: dict[str, ErrorInfo]) -> ErrorInfo:
    text = branches_text(kind, name, {key: error.message for key, error in errors.items()})
    return ErrorInfo(f"{kind}.failed", text, kind=kind, attrs={"name": name}, parts=errors)


def all_branches(
    name: str, branches: Mapping[str, Callable[..., Any]] | None, more: dict[str, Callable[..., Any]]
) -> dict[str, Callable[..., Any]]:
    """The branches given as a mapping together with those given as keywords."""
    found = dict(branches or {})
    twice = set(found) & set(more)
    if twice:
        raise WorkflowCodeError("BRANCH", f"`{name}` has two branches `{sorted(twice)[0]}`", fix="rename one")
    return found | more
