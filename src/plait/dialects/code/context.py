"""`ctx`: the durable operations of a workflow function. Every call returns an operation to await."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, TypeVarTuple, Unpack, cast, get_args, overload

from msgspec import Raw

from plait.kernel.bundle import Reference
from plait.kernel.errors import PlaitError
from plait.kernel.ids import Millis, RunId, run_key
from plait.kernel.run_queues import ChildQueueing

from .agents import AgentOp, AgentOptions
from .approvals import ApproveOp, Verdict, request, voting
from .base_context import BaseContext
from .branches import JoinOp, RaceOp, Results, Won, all_branches
from .children import ChildOp, SendOp, StartChildOp, queueing_of, reference_of
from .definition import Step, Workflow, checked_text
from .events import Kind
from .keyword_arguments import take_keywords
from .loops import MISSING, Keeping, Loop, LoopOp
from .messages import ListenOp, Message
from .op import Op
from .options import Sec, StepOptions, bad_option, seconds
from .scope import Scope
from .steps import StepOp
from .versions import RemovedOp, VersionOp
from .waits import MAX_WAIT, Due, SleepOp, Timeout

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
Ts = TypeVarTuple("Ts")

Branch = Callable[["Context"], Awaitable[T]]


class LoopOptions(TypedDict, total=False):
    """How often a loop commits its state (default: every 20 iterations), and which iterations stay in the history."""

    commit_interval: int
    history_every: int
    history_keep: int


class ChildOptions(ChildQueueing, total=False):
    id: str | None
    deadline: Sec | None
    labels: dict[str, str] | None
    on_parent_close: Literal["cancel", "abandon"]


class Context(BaseContext):
    """The durable operations of a run. Results are recorded under the names you give; a name is used once
    in its scope. A workflow function may await nothing else, except that asyncio's own tasks, groups,
    locks, `gather`, `wait`, `timeout` and `sleep` work."""

    __slots__ = ()

    # -- steps ---------------------------------------------------------------------------------------------------

    @overload
    def step(
        self, name: str, fn: Callable[[*Ts], Any], *args: *Ts, returns: type[T], **options: Unpack[StepOptions]
    ) -> Op[T]: ...
    @overload
    def step(
        self, name: str, fn: Callable[[*Ts], Awaitable[T]], *args: *Ts, **options: Unpack[StepOptions]
    ) -> Op[T]: ...
    @overload
    def step(self, name: str, fn: Callable[[*Ts], T], *args: *Ts, **options: Unpack[StepOptions]) -> Op[T]: ...
    @overload
    def step(self, name: str, fn: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> Op[T]: ...
    @overload
    def step(self, name: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Op[T]: ...
    def step(self, name: str, fn: Any, *args: Any, returns: Any = Any, **options: Any) -> Op[Any]:
        """Runs code that touches the world: at least once, with its result recorded once. The result has the return
        type of `fn`; a lambda has none, so pass `returns` if it is more than plain JSON. Keywords that are not options
        are arguments of `fn`."""
        merged = self._replay.definition.options
        named: Step[..., Any] | None = fn if isinstance(fn, Step) else None  # pyright: ignore[reportUnknownVariableType]
        if named is not None and named.given:
            merged = merged.under(named.given)
        if options:
            fn, args, given = take_keywords(cast("Any", fn), name, args, options)  # type: ignore[assignment]
            merged = merged.under(given)
        if merged.queue is not None:
            self._needs_engine("step(queue=...)")
        return StepOp(self._scope, name, fn, named, args, merged, returns)  # pyright: ignore[reportUnknownArgumentType]

    # -- agents ----------------------------------------------------------------------------------------------------

    @overload
    def agent(
        self,
        name: str,
        prompt: str,
        payload: Any = None,
        *,
        model: str,
        returns: type[T],
        **options: Unpack[AgentOptions],
    ) -> Op[T]: ...
    @overload
    def agent(
        self, name: str, prompt: str, payload: Any = None, *, model: str, **options: Unpack[AgentOptions]
    ) -> Op[Any]: ...
    def agent(
        self, name: str, prompt: str, payload: Any = None, *, model: str, returns: Any = Any, **options: Any
    ) -> Op[Any]:
        """Lets a language model of the engine work on the payload, with `tools`. Each turn is recorded, so that none is
        paid for twice. The result is the agent's output, of type `returns` if given."""
        self._needs_engine("agent")
        return AgentOp(self._scope, name, prompt, payload, model, returns, cast("AgentOptions", options))

    # -- time ----------------------------------------------------------------------------------------------------

    def sleep(self, name: str, duration: Sec) -> Op[None]:
        """Waits for a second or a year; the process may restart meanwhile."""
        return SleepOp(self._scope, name, self._in(duration, name))

    def sleep_until(self, name: str, when: datetime) -> Op[None]:
        """Waits until a moment; returns at once if it has passed."""
        return SleepOp(self._scope, name, self._at(when, name))

    def timeout(self, name: str, duration: Sec) -> Timeout:
        """`async with ctx.timeout("name", 60):` raises TimeoutError inside when the time is up."""
        return Timeout(self._scope, name, self._in(duration, name))

    # -- messages ------------------------------------------------------------------------------------------------

    @overload
    def listen(
        self,
        name: str,
        messages: str | Sequence[str] | None = None,
        *,
        type: type[T],
        timeout: Sec | None = None,
        until: datetime | None = None,
    ) -> Op[Message[T] | None]: ...
    @overload
    def listen(
        self,
        name: str,
        messages: str | Sequence[str] | None = None,
        *,
        timeout: Sec | None = None,
        until: datetime | None = None,
    ) -> Op[Message[Any] | None]: ...
    def listen(
        self,
        name: str,
        messages: str | Sequence[str] | None = None,
        *,
        type: Any = Any,
        timeout: Sec | None = None,
        until: datetime | None = None,
    ) -> Op[Message[Any] | None]:
        """Waits for one of these messages (default: the one called `name`); returns None when the time is up."""
        return self._listen(name, messages, type, timeout, until, None)

    @overload
    def listen_n(
        self,
        name: str,
        messages: str | Sequence[str] | None = None,
        *,
        limit: int,
        type: type[T],
        timeout: Sec | None = None,
        until: datetime | None = None,
    ) -> Op[list[Message[T]]]: ...
    @overload
    def listen_n(
        self,
        name: str,
        messages: str | Sequence[str] | None = None,
        *,
        limit: int,
        timeout: Sec | None = None,
        until: datetime | None = None,
    ) -> Op[list[Message[Any]]]: ...
    def listen_n(
        self,
        name: str,
        messages: str | Sequence[str] | None = None,
        *,
        limit: int,
        type: Any = Any,
        timeout: Sec | None = None,
        until: datetime | None = None,
    ) -> Op[list[Message[Any]]]:
        """Waits for at least one message and takes up to `limit`; returns an empty list when the time is up."""
        if not 1 <= limit <= 1000:
            raise bad_option(f"limit={limit} of listen_n `{name}`", "use 1 to 1000")
        return self._listen(name, messages, type, timeout, until, limit)

    def _listen(
        self,
        name: str,
        messages: str | Sequence[str] | None,
        type: Any,
        timeout: Sec | None,
        until: datetime | None,
        limit: int | None,
    ) -> ListenOp:
        names = [name] if messages is None else [messages] if isinstance(messages, str) else list(messages)
        if not names or not all(checked_text(f"a message name of `{name}`", item) for item in names):
            raise bad_option(f"listen `{name}` names no message", "give at least one message name")
        if timeout is not None and until is not None:
            raise bad_option(f"listen `{name}` has both timeout and until", "give one of them")
        due = None
        if timeout is not None:
            due = self._in(timeout, name)
        elif until is not None:
            due = self._at(until, name)
        return ListenOp(self._scope, name, names, type, due, limit)

    def send(self, name: str, run_id: str, message: str, body: Any = None) -> Op[None]:
        """Sends a message to another run of this namespace, exactly once."""
        self._needs_engine("send")
        if not checked_text(f"the message name of send `{name}`", message):
            raise bad_option(f"send `{name}` has no message name", "name the message that the other run listens for")
        return SendOp(self._scope, name, self._run_key(run_id, name), message, body)

    # -- structure -----------------------------------------------------------------------------------------------

    @overload
    def join(self, name: str, branches: Mapping[str, Branch[T]], /, **more: Branch[T]) -> Op[Results[T]]: ...
    @overload
    def join(self, name: str, /, **more: Branch[T]) -> Op[Results[T]]: ...
    def join(self, name: str, branches: Mapping[str, Branch[Any]] | None = None, /, **more: Branch[Any]) -> Op[Any]:
        """Runs branches side by side and waits for all of them, even after one has failed."""
        return JoinOp(self._scope, name, all_branches(name, branches, more), Context)

    @overload
    def race(self, name: str, branches: Mapping[str, Branch[T]], /, **more: Branch[T]) -> Op[Won[T]]: ...
    @overload
    def race(self, name: str, /, **more: Branch[T]) -> Op[Won[T]]: ...
    def race(self, name: str, branches: Mapping[str, Branch[Any]] | None = None, /, **more: Branch[Any]) -> Op[Any]:
        """Runs branches side by side; the first to complete wins and the others are cancelled."""
        return RaceOp(self._scope, name, all_branches(name, branches, more), Context)

    @overload
    def loop(
        self,
        name: str,
        body: Callable[[Context, S], Awaitable[Loop[Any, Any]]],
        *,
        state: S,
        returns: type[T],
        **keeping: Unpack[LoopOptions],
    ) -> Op[T]: ...
    @overload
    def loop(
        self,
        name: str,
        body: Callable[[Context, S], Awaitable[Loop[Any, T]]],
        *,
        state: S,
        **keeping: Unpack[LoopOptions],
    ) -> Op[T]: ...
    @overload
    def loop(
        self, name: str, body: Callable[[Context], Awaitable[Any]], *, returns: type[T], **keeping: Unpack[LoopOptions]
    ) -> Op[T]: ...
    @overload
    def loop(
        self, name: str, body: Callable[[Context], Awaitable[Loop[Any, T] | None]], **keeping: Unpack[LoopOptions]
    ) -> Op[T]: ...
    @overload
    def loop(self, name: str, body: Callable[[Context], Awaitable[Any]], **keeping: Unpack[LoopOptions]) -> Op[Any]: ...
    def loop(
        self,
        name: str,
        body: Callable[..., Awaitable[Any]],
        *,
        state: Any = MISSING,
        returns: Any = Any,
        commit_interval: int = 20,
        history_every: int | None = None,
        history_keep: int | None = None,
    ) -> Op[Any]:
        """Calls `body(ctx, state)` until it returns `Loop.break_(value)`. A loop may run for years: old iterations
        are trimmed from the history."""
        every = commit_interval if history_every is None else history_every
        keep = commit_interval if history_keep is None else history_keep
        if not (1 <= commit_interval <= 10_000 and 1 <= every <= 10_000 and 0 <= keep <= 10_000):
            what = f"commit_interval={commit_interval}, history_every={every}, history_keep={keep} of loop `{name}`"
            raise bad_option(what, "use 1 to 10000; history_keep may be 0")
        return LoopOp(self._scope, name, body, state, Keeping(commit_interval, every, keep), returns, Context)

    @overload
    def child(
        self, name: str, definition: Any, input: Any = None, *, returns: type[T], **options: Unpack[ChildOptions]
    ) -> Op[T]: ...
    @overload
    def child(
        self,
        name: str,
        definition: Workflow[..., Coroutine[Any, Any, T]],
        input: Any = None,
        **options: Unpack[ChildOptions],
    ) -> Op[T]: ...
    @overload
    def child(self, name: str, definition: Any, input: Any = None, **options: Unpack[ChildOptions]) -> Op[Any]: ...
    def child(
        self,
        name: str,
        definition: Any,
        input: Any = None,
        *,
        returns: Any = Any,
        id: str | None = None,
        deadline: Sec | None = None,
        labels: dict[str, str] | None = None,
        on_parent_close: Literal["cancel", "abandon"] = "cancel",
        **queueing: Unpack[ChildQueueing],
    ) -> Op[Any]:
        """Starts a run of any definition and waits for its output; with `queue=`, it first waits there for a slot."""
        if on_parent_close not in ("cancel", "abandon"):
            raise bad_option(f"on_parent_close={on_parent_close!r}", "use cancel or abandon")
        if returns is Any:
            returns = getattr(definition, "returns", Any)
        reference, key, due, labels = self._started(name, definition, id, deadline, labels)
        keep = on_parent_close == "abandon"
        place = queueing_of(name, queueing)
        return ChildOp(self._scope, name, reference, input, key, due, labels, keep, returns, place)

    def start_child(
        self,
        name: str,
        definition: Any,
        input: Any = None,
        *,
        id: str | None = None,
        deadline: Sec | None = None,
        labels: dict[str, str] | None = None,
        **queueing: Unpack[ChildQueueing],
    ) -> Op[str]:
        """Starts a detached run of any definition and returns its id. Nobody waits for its end, and it outlives its
        parent. With `queue=`, the parent has the id while the child still waits in the queue."""
        reference, key, due, labels = self._started(name, definition, id, deadline, labels)
        place = queueing_of(name, queueing)
        return StartChildOp(self._scope, name, reference, input, key, due, labels, place)

    def _started(
        self, name: str, definition: Any, id: str | None, deadline: Sec | None, labels: dict[str, str] | None
    ) -> tuple[Reference, RunId | None, Due | None, dict[str, str]]:
        """The checked parameters that a child starts with."""
        self._needs_engine("child")
        for label in chain.from_iterable((labels or {}).items()):
            checked_text(f"a label of child `{name}`", label)
        if isinstance(definition, Workflow):
            self._replay.around.registry.add(cast("object", definition))  # a later replay finds it by name
        key = None if id is None else self._run_key(id, name)
        due = None if deadline is None else self._in(deadline, name)
        return reference_of(name, definition), key, due, labels or {}

    def approve(
        self,
        name: str,
        *,
        by: str = "",
        timeout: Sec | None = None,
        title: str = "",
        form: Any = None,
        evidence: Any = None,
        required: int = 1,
        approvers: Sequence[str] = (),
        escalate_after: Sec | None = None,
        escalate_to: Sequence[str] = (),
    ) -> Op[Verdict]:
        """Asks people to decide; `verdict.approved`, `.by`, `.comment`, `.data`. `evidence` is what they are shown;
        `form` is what they fill in, a dataclass or a JSON Schema. `required` of the `approvers` must approve, one
        rejection is enough; `escalate_to` may also decide once `escalate_after` has passed without a decision."""
        self._needs_engine("approve")
        due = None if timeout is None else self._in(timeout, name)
        later = None if escalate_after is None else self._in(escalate_after, name)
        votes = voting(name, required, approvers, later, escalate_to)
        return ApproveOp(self._scope, name, request(name, by, title, form, evidence, votes), due)

    # -- changing code -------------------------------------------------------------------------------------------

    def version(self, name: str, latest: int) -> Op[int]:
        """Guards new code: `if await ctx.version("with hold", 2) >= 2:`. Runs already past it get 1."""
        if latest < 1:
            raise bad_option(f"latest={latest} of version `{name}`", "use 1 or more")
        return VersionOp(self._scope, name, latest)

    def removed(self, name: str, kind: Kind, *, rollback: Callable[..., Any] | None = None) -> Op[None]:
        """Stands in for an operation that was deleted from the code, so that old runs continue."""
        if kind not in get_args(Kind):
            raise bad_option(f"kind={kind!r} of removed `{name}`", f"use one of {', '.join(get_args(Kind))}")
        return RemovedOp(self._scope, name, kind, rollback)

    def _in(self, duration: Sec, name: str) -> Due:
        try:
            wait = seconds(duration)
        except (TypeError, ValueError):
            raise bad_option(f"duration {duration!r} of `{name}`", "use seconds or a timedelta") from None
        if not wait <= MAX_WAIT:
            raise bad_option(f"duration {wait:g} s of `{name}`", "use at most 100 years")
        return Due(after=round(wait * 1000) if wait > 0 else 0)

    def _at(self, when: datetime, name: str) -> Due:
        if getattr(when, "tzinfo", None) is None:
            what = f"the time {when!r} of `{name}` has no time zone"
            raise bad_option(what, "use a datetime such as ctx.now() + timedelta(hours=1)")
        if (when - self.now()).total_seconds() > MAX_WAIT:
            raise bad_option(f"the time {when} of `{name}`", "use at most 100 years")
        return Due(Millis(round(when.timestamp() * 1000)))

    def _run_key(self, run_id: str, name: str) -> RunId:
        try:
            return run_key(self.namespace, run_id, new=True)
        except PlaitError as error:
            raise bad_option(f"{error.what} (of `{name}`)", error.fix) from None


def entry(definition: Workflow[..., Any], input: Raw) -> Callable[[Scope], Awaitable[Any]]:
    """How to enter a workflow function. Raises if the input does not fit, which may happen after a code change."""
    return partial(_enter, definition.fn, definition.arguments(input))


def _enter(fn: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...], root: Scope) -> Awaitable[Any]:
    return fn(Context(root), *arguments)
