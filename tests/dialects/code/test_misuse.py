# pyright: reportCallIssue=false, reportArgumentType=false
"""What a workflow function may not do: each is said at the call, with a way out, and can be caught."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait import Context, Loop, Retry, step, step_info, workflow
from plait.errors import InvalidInput, JoinError, PlaitError, RunFailed, StepExhaustedError, WorkflowCodeError

from .conftest import Simulate
from .decided import deciding
from .support import failure, refused

Body = Callable[[Context], Awaitable[Any]]


async def caught(body: Body) -> WorkflowCodeError:
    """What a workflow with this body fails with. First it is caught inside, which shows where it is raised."""
    inside: list[WorkflowCodeError] = []

    @workflow
    async def w(ctx: Context) -> Any:
        try:
            return await body(ctx)
        except WorkflowCodeError as error:
            inside.append(error)
            raise

    async with deciding() as s:
        info = await failure(s, await s.start(w, id="run"))
    assert len(inside) >= 1, f"nothing was raised at the call: {info.message}"
    assert info.code == inside[0].code
    return inside[0]


def says(error: PlaitError, code: str, *parts: str) -> None:
    assert error.code == code
    for part in parts:
        assert part in str(error), str(error)


# -- names -----------------------------------------------------------------------------------------------------------


async def test_a_name_must_not_be_empty() -> None:
    says(await caught(lambda ctx: ctx.step("", lambda: 1)), "CODE_BAD_NAME", "step name is empty")
    says(await caught(lambda ctx: ctx.step(print, 1)), "CODE_BAD_NAME", "step name is the function `print`")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "why"), [("x" * 501, "501 characters"), ("a\0b", "NUL"), (5, "5"), (None, "None")])
async def test_a_name_must_be_a_short_string(name: Any, why: str) -> None:
    says(await caught(lambda ctx: ctx.sleep(name, 1)), "CODE_BAD_NAME", "sleep name", why)


async def test_a_name_with_a_lone_surrogate_is_refused() -> None:
    says(await caught(lambda ctx: ctx.sleep("\ud800", 1)), "CODE_BAD_NAME", "sleep name")


async def test_a_name_may_have_500_characters_and_any_marks() -> None:
    names = ["x" * 500, "a/b", "50%", "~0", "~timer.0", "order#5", "ünï", "a b", "%2F", "a:b#c/d", "line\nbreak"]

    @workflow
    async def w(ctx: Context) -> list[str]:
        return [await ctx.step(name, lambda name=name: name) for name in names]

    async with deciding() as s:
        run = await s.start(w)
        assert await s.result(run) == names
        paths = [node.id for node in (await run.view()).nodes]
        assert paths[1:5] == ["a%2Fb", "50%25", "%7E0", "%7Etimer.0"]
        assert [node.label for node in (await run.view()).nodes] == names


@pytest.mark.parametrize("kind", ["step", "sleep", "listen", "join", "race", "loop", "timeout", "version", "send"])
async def test_a_name_is_used_once_in_a_scope(kind: str) -> None:
    async def body(ctx: Context) -> None:
        again: dict[str, Callable[[], Any]] = {
            "step": lambda: ctx.step("charge", lambda: 2),
            "sleep": lambda: ctx.sleep("charge", 1),
            "listen": lambda: ctx.listen("charge"),
            "join": lambda: ctx.join("charge"),
            "race": lambda: ctx.race("charge", a=lambda c: c.sleep("s", 1)),
            "loop": lambda: ctx.loop("charge", lambda c: c.sleep("s", 1)),
            "timeout": lambda: ctx.timeout("charge", 1),
            "version": lambda: ctx.version("charge", 1),
            "send": lambda: ctx.send("charge", "other", "hello"),
        }
        await ctx.step("charge", lambda: 1)
        again[kind]()

    error = await caught(body)
    says(error, "CODE_DUPLICATE_NAME", "`charge` is used twice in the workflow", 'write f"charge:{i}", or use ctx.loop')


async def test_a_name_may_be_used_again_in_another_scope() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        async def branch(c: Context) -> str:
            return await c.step("work", lambda: c.path)

        async def body(c: Context, n: int) -> Any:
            found = await c.step("work", lambda: c.path)
            return Loop.break_(found) if n else Loop.continue_(1)

        both = await ctx.join("parallel", x=branch, y=branch)
        return [await ctx.step("work", lambda: ctx.path), both.x, both.y, await ctx.loop("outer", body, state=0)]

    async with deciding() as s:
        assert await s.run(w) == ["", "parallel/x", "parallel/y", "outer/~1"]


async def test_a_duplicate_in_a_branch_names_the_branch() -> None:
    async def branch(c: Context) -> None:
        await c.step("a", lambda: 1)
        await c.step("a", lambda: 1)

    @workflow
    async def w(ctx: Context) -> str:
        try:
            await ctx.join("j", x=branch)
        except JoinError as error:
            return str(error.errors["x"])
        return ""

    async with deciding() as s:
        assert "`a` is used twice in `j/x`" in await s.run(w)


# -- the right ctx ---------------------------------------------------------------------------------------------------


async def test_a_branch_must_use_its_own_ctx() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def wrong(c: Context) -> None:
            await ctx.step("a", lambda: 1)

        try:
            await ctx.join("j", x=wrong)
        except JoinError as error:
            return str(error.errors["x"])
        return ""

    async with deciding() as s:
        text = await s.run(w)
    assert "CODE_WRONG_CTX" in text
    assert "`j/x`" in text
    assert "use the ctx that" in text


async def test_a_loop_body_must_use_its_own_ctx() -> None:
    async def body(ctx: Context) -> None:
        async def wrong(c: Context) -> None:
            await ctx.step("a", lambda: 1)

        await ctx.loop("l", wrong)

    says(await caught(body), "CODE_WRONG_CTX", "step `a`")


async def test_random_numbers_of_an_outer_ctx_are_refused_too() -> None:
    """The count of draws would differ on a replay that does not enter the branch."""

    async def body(ctx: Context) -> None:
        async def wrong(c: Context) -> Any:
            return ctx.uuid()

        await ctx.loop("l", wrong)

    says(await caught(body), "CODE_WRONG_CTX")


async def test_an_operation_is_awaited_in_the_scope_that_made_it() -> None:
    async def body(ctx: Context) -> None:
        op = ctx.step("a", lambda: 1)

        async def wrong(c: Context) -> Any:
            return Loop.break_(await op)

        try:
            await ctx.loop("l", wrong)
        finally:
            op.close()

    says(await caught(body), "CODE_WRONG_CTX", "step `a`")


@pytest.mark.parametrize("threaded", [True, False])
async def test_a_step_must_not_use_the_ctx(threaded: bool) -> None:
    calls: list[int] = []

    async def body(ctx: Context) -> None:
        def plain() -> None:
            calls.append(1)
            ctx.sleep("inner", 1)

        async def coroutine() -> None:
            plain()

        await ctx.step("outer", plain if threaded else coroutine)

    says(await caught(body), "CODE_WRONG_CTX", "sleep `inner`", "a step")
    assert calls == [1]  # trying again could not help


def test_step_info_is_for_steps() -> None:
    with refused("CODE_WRONG_CTX", "step_info() was called outside a step"):
        step_info()


# -- foreign awaits --------------------------------------------------------------------------------------------------


async def _connect(ctx: Context) -> Any:
    return await asyncio.open_connection("localhost", 1)


async def _thread(ctx: Context) -> Any:
    return await asyncio.to_thread(print)


async def _process(ctx: Context) -> Any:
    return await asyncio.create_subprocess_exec("true")


async def _shell(ctx: Context) -> Any:
    return await asyncio.create_subprocess_shell("true")


async def _serve(ctx: Context) -> Any:
    return await asyncio.start_server(lambda r, w: None)


async def _datagram(ctx: Context) -> Any:
    return await asyncio.get_running_loop().create_datagram_endpoint(asyncio.DatagramProtocol)


async def _resolve(ctx: Context) -> Any:
    return await asyncio.get_running_loop().getaddrinfo("localhost", 1)


async def _socket(ctx: Context) -> Any:
    with socket.socket() as sock:
        return await asyncio.get_running_loop().sock_recv_into(sock, bytearray(1))


async def _signal(ctx: Context) -> Any:
    return asyncio.get_running_loop().add_signal_handler(10, print)


async def _other_thread(ctx: Context) -> Any:
    return asyncio.get_running_loop().call_soon_threadsafe(print)


async def _executor(ctx: Context) -> Any:
    return asyncio.get_running_loop().set_default_executor(None)


REFUSED = [
    _connect,
    _thread,
    _process,
    _shell,
    _serve,
    _datagram,
    _resolve,
    _socket,
    _signal,
    _other_thread,
    _executor,
]


@pytest.mark.parametrize("body", REFUSED, ids=lambda fn: fn.__name__)
async def test_io_threads_processes_and_signals_are_refused(body: Body) -> None:
    says(await caught(body), "CODE_FOREIGN_AWAIT", 'put it in `ctx.step("name", fn)`')


async def test_a_future_of_another_loop_is_refused() -> None:
    foreign = asyncio.get_running_loop().create_future()

    @workflow
    async def w(ctx: Context) -> None:
        await foreign

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_FOREIGN_AWAIT"
        assert "ctx.step" in info.message


async def test_a_future_of_another_loop_is_refused_in_branches_and_bodies_too() -> None:
    foreign = asyncio.get_running_loop().create_future()

    @workflow
    async def w(ctx: Context) -> list[str]:
        async def waits(c: Context) -> None:
            await foreign

        codes: list[str] = []
        try:
            await ctx.join("j", x=waits)
        except* WorkflowCodeError as group:
            codes += [error.code for error in group.exceptions if isinstance(error, WorkflowCodeError)]
        try:
            await ctx.loop("l", waits)
        except WorkflowCodeError as error:
            codes.append(error.code)
        return codes

    async with deciding() as s:
        assert await s.run(w) == ["CODE_FOREIGN_AWAIT", "CODE_FOREIGN_AWAIT"]


async def test_a_bare_yield_of_another_framework_is_refused() -> None:
    class Trap:
        def __await__(self) -> Any:
            yield "a trap of another framework"

    @workflow
    async def w(ctx: Context) -> None:
        await Trap()

    async with deciding() as s:
        assert (await failure(s, await s.start(w))).code == "CODE_FOREIGN_AWAIT"


# -- awaiting --------------------------------------------------------------------------------------------------------


OPERATIONS: dict[str, Callable[[Context], Any]] = {
    "step": lambda ctx: ctx.step("a", lambda: 1),
    "sleep": lambda ctx: ctx.sleep("a", 1),
    "message": lambda ctx: ctx.listen("a"),
    "join": lambda ctx: ctx.join("a"),
    "race": lambda ctx: ctx.race("a", x=lambda c: c.sleep("s", 1)),
    "loop": lambda ctx: ctx.loop("a", lambda c: c.sleep("s", 1)),
    "timer": lambda ctx: ctx.timeout("a", 1),
    "version": lambda ctx: ctx.version("a", 1),
    "removed": lambda ctx: ctx.removed("a", "step"),
    "send": lambda ctx: ctx.send("a", "b", "c"),
    "approval": lambda ctx: ctx.approve("a"),
    "child": lambda ctx: ctx.child("a", "w"),
}


@pytest.mark.parametrize("kind", OPERATIONS)
async def test_an_operation_that_is_not_awaited_is_named_with_its_line(kind: str) -> None:
    @workflow
    async def w(ctx: Context) -> None:
        OPERATIONS[kind](ctx)

    async with deciding([w]) as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_NOT_AWAITED"
        line = OPERATIONS[kind].__code__.co_firstlineno
        assert f"await {kind} `a`, " in info.message
        assert f"test_misuse.py:{line}" in info.message


async def test_an_operation_that_is_still_open_when_the_workflow_returns_is_an_error() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        task = asyncio.create_task(ctx.sleep("nap", 100))
        await ctx.sleep("short", 1)
        del task

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_NOT_AWAITED"
        assert "sleep `nap`" in info.message


async def test_a_branch_and_an_iteration_must_await_what_they_open() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        async def careless(c: Context) -> None:
            c.step("a", lambda: 1)

        found: list[str] = []
        try:
            await ctx.join("j", x=careless)
        except* WorkflowCodeError as group:
            found += [str(error) for error in group.exceptions]
        try:
            await ctx.loop("l", careless)
        except WorkflowCodeError as error:
            found.append(str(error))
        return found

    async with deciding() as s:
        branch, iteration = await s.run(w)
    assert "`j/x` ended while step `a` was not awaited" in branch
    assert "`l/~0` ended while step `a` was not awaited" in iteration


async def test_going_round_without_an_operation_is_noticed() -> None:
    @workflow
    async def w(ctx: Context) -> None:
        while True:  # noqa: ASYNC110
            await asyncio.sleep(0)

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_SPINNING"
        assert "wait with ctx.sleep or ctx.listen" in info.message


async def test_a_loop_whose_body_does_nothing_is_noticed() -> None:
    async def body(ctx: Context) -> None:
        async def nothing(c: Context) -> None: ...

        await ctx.loop("l", nothing)

    says(await caught(body), "CODE_SPINNING", "loop `l`")


async def test_many_results_in_a_row_are_not_spinning() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def many(c: Context) -> int:
            for _ in range(40_000):
                await asyncio.sleep(0)
            return await c.step("a", lambda: 1)

        naps = [asyncio.create_task(ctx.sleep(f"nap:{n}", n)) for n in range(1, 5)]
        for nap in naps:
            await nap
            for _ in range(40_000):
                await asyncio.sleep(0)
        return 1

    async with deciding() as s:
        assert await s.run(w) == 1


# -- values ----------------------------------------------------------------------------------------------------------


async def test_a_result_that_is_not_json_is_refused_without_a_retry() -> None:
    calls: list[int] = []

    async def body(ctx: Context) -> None:
        def open_() -> Any:
            calls.append(1)
            return {"conn": object()}

        await ctx.step("open", open_)

    says(await caught(body), "CODE_NOT_ENCODABLE", "step `open`", "`$.conn`", "object")
    assert calls == [1]


async def test_an_argument_that_is_not_json_is_refused_at_the_call() -> None:
    @step
    def typed(value: Any) -> None: ...

    says(
        await caught(lambda ctx: ctx.step("a", typed, object())),
        "CODE_NOT_ENCODABLE",
        "an argument of step `a`",
        "$[0]",
    )


async def test_an_argument_of_a_plain_function_stays_as_it_is() -> None:
    marker = object()

    @workflow
    async def w(ctx: Context) -> bool:
        return await ctx.step("same", lambda value: value is marker, marker)

    async with deciding() as s:
        assert await s.run(w) is True


async def test_an_argument_that_misfits_its_step_is_refused_without_a_retry() -> None:
    @step
    def double(number: int) -> int:
        return number * 2

    says(await caught(lambda ctx: ctx.step("a", double, "x")), "CODE_BAD_OPTION", "`a`", "`int`", "`str`")


@pytest.mark.parametrize("bad", ["a\0b", "\udc00", float("nan"), float("-inf"), {"deep": float("inf")}])
async def test_a_result_that_no_store_can_keep_is_refused(bad: Any) -> None:
    says(await caught(lambda ctx: ctx.step("a", lambda: bad)), "CODE_NOT_ENCODABLE", "step `a`")


async def test_a_result_that_is_too_large_is_refused(simulate: Simulate) -> None:
    from plait import Limits

    @workflow
    async def w(ctx: Context) -> None:
        await ctx.step("big", lambda: "x" * 2000)

    async with simulate(limits=Limits(max_payload=1000)) as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_NOT_ENCODABLE"
        assert "2,002 bytes" in info.message
        assert "1,000" in info.message


async def test_an_output_that_is_not_json_fails_the_run() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        return {"conn": object()}

    async with deciding() as s:
        info = await failure(s, await s.start(w))
        assert info.code == "CODE_NOT_ENCODABLE"
        assert "the workflow's result" in info.message
        assert "$.conn" in info.message


async def test_the_result_of_a_branch_must_be_json() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        async def branch(c: Context) -> Any:
            return object()

        try:
            await ctx.join("j", x=branch)
        except JoinError as error:
            return str(error.errors["x"])
        return ""

    async with deciding() as s:
        text = await s.run(w)
    assert "CODE_NOT_ENCODABLE" in text
    assert "branch `x`" in text


@pytest.mark.parametrize("where", ["first state", "state", "result"])
async def test_the_states_and_the_result_of_a_loop_must_be_json(where: str) -> None:
    async def body(ctx: Context) -> None:
        async def turn(c: Context, state: Any) -> Any:
            return Loop.break_(object()) if where == "result" else Loop.continue_(object())

        await ctx.loop("l", turn, state=object() if where == "first state" else 0)

    says(await caught(body), "CODE_NOT_ENCODABLE", "loop `l`", where)


# -- loops, branches, options ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", [None, 5, True, Loop])
async def test_a_body_with_state_says_how_to_go_on(verdict: Any) -> None:
    async def body(ctx: Context) -> None:
        async def turn(c: Context, state: int) -> Any:
            return verdict

        await ctx.loop("l", turn, state=0)

    error = await caught(body)
    says(error, "CODE_LOOP_RESULT", "loop `l`", "return Loop.continue_(state) or Loop.break_(value)")


async def test_a_body_without_state_may_return_nothing_but_nothing_else() -> None:
    async def body(ctx: Context) -> None:
        async def turn(c: Context) -> Any:
            return 5

        await ctx.loop("l", turn)

    says(await caught(body), "CODE_LOOP_RESULT", "loop `l`", "returned 5")


BAD_OPTIONS: dict[str, tuple[Callable[[Context], Any], str]] = {
    "attempts 0": (lambda ctx: ctx.step("a", print, max_attempts=0), "max_attempts=0"),
    "attempts 1001": (lambda ctx: ctx.step("a", print, max_attempts=1001), "max_attempts=1001"),
    "attempts text": (lambda ctx: ctx.step("a", print, max_attempts="3"), "max_attempts='3'"),
    "timeout 0": (lambda ctx: ctx.step("a", print, timeout=0), "timeout=0"),
    "timeout < 0": (lambda ctx: ctx.step("a", print, timeout=-1), "timeout=-1"),
    "timeout 31 days": (lambda ctx: ctx.step("a", print, timeout=31 * 86_400), "at most"),
    "timeout text": (lambda ctx: ctx.step("a", print, timeout="soon"), "timeout='soon'"),
    "heartbeat 0": (lambda ctx: ctx.step("a", print, heartbeat_timeout=0), "heartbeat_timeout=0"),
    "unknown option": (lambda ctx: ctx.step("a", print, max_retries=3), "unknown option `max_retries`"),
    "retry is no policy": (lambda ctx: ctx.step("a", print, retry=3), "retry=3"),
    "rollback is no function": (lambda ctx: ctx.step("a", print, rollback="undo"), "rollback='undo'"),
    "step of a result": (lambda ctx: ctx.step("a", 5), "pass `fn`, not `fn()`"),
    "sleep for ever": (lambda ctx: ctx.sleep("a", float("inf")), "at most 100 years"),
    "sleep nan": (lambda ctx: ctx.sleep("a", float("nan")), "nan"),
    "sleep 101 years": (lambda ctx: ctx.sleep("a", 101 * 366 * 86_400), "at most 100 years"),
    "sleep text": (lambda ctx: ctx.sleep("a", "soon"), "'soon'"),
    "sleep_until naive": (lambda ctx: ctx.sleep_until("a", ctx.now().replace(tzinfo=None)), "no time zone"),
    "sleep_until text": (lambda ctx: ctx.sleep_until("a", "noon"), "'noon'"),
    "sleep_until too far": (lambda ctx: ctx.sleep_until("a", ctx.now().replace(year=9999)), "at most 100 years"),
    "timeout context": (lambda ctx: ctx.timeout("a", float("nan")), "nan"),
    "listen to nothing": (lambda ctx: ctx.listen("a", []), "names no message"),
    "listen to empty": (lambda ctx: ctx.listen("a", [""]), "names no message"),
    "listen twice limited": (lambda ctx: ctx.listen("a", timeout=1, until=ctx.now()), "both timeout and until"),
    "listen_n 0": (lambda ctx: ctx.listen_n("a", limit=0), "limit=0"),
    "listen_n 1001": (lambda ctx: ctx.listen_n("a", limit=1001), "limit=1001"),
    "commit 0": (lambda ctx: ctx.loop("a", print, commit_interval=0), "commit_interval=0"),
    "commit 10001": (lambda ctx: ctx.loop("a", print, commit_interval=10_001), "commit_interval=10001"),
    "history_every 0": (lambda ctx: ctx.loop("a", print, history_every=0), "history_every=0"),
    "history_keep -1": (lambda ctx: ctx.loop("a", print, history_keep=-1), "history_keep=-1"),
    "version 0": (lambda ctx: ctx.version("a", 0), "latest=0"),
    "child close": (lambda ctx: ctx.child("a", "w", on_parent_close="x"), "on_parent_close='x'"),
    "child deadline": (lambda ctx: ctx.child("a", "w", deadline="x"), "'x'"),
    "removed kind": (lambda ctx: ctx.removed("a", "stp"), "kind='stp'"),
    "send to a path": (lambda ctx: ctx.send("a", "x/y", "hello"), "run id"),
    "send nothing": (lambda ctx: ctx.send("a", "other", ""), "message name"),
    "asyncio.sleep for ever": (lambda ctx: asyncio.sleep(float("inf")), "at most 100 years"),
}


@pytest.mark.parametrize("option", BAD_OPTIONS)
async def test_an_option_out_of_range_is_refused_at_the_call(option: str) -> None:
    call, part = BAD_OPTIONS[option]

    async def body(ctx: Context) -> Any:
        return await call(ctx)

    says(await caught(body), "CODE_BAD_OPTION", part)


def test_a_wrong_option_of_a_step_or_a_workflow_is_said_where_it_is_written() -> None:
    with refused("CODE_BAD_OPTION", "max_attempts=0", "use 1 to 1000"):
        step(max_attempts=0)
    with refused("CODE_BAD_OPTION", "timeout=0"):
        workflow(timeout=0)
    with refused("CODE_BAD_OPTION", "unknown option `attempts`"):
        step(attempts=3)  # type: ignore[call-overload]


def test_a_retry_policy_checks_itself() -> None:
    for bad in (
        {"max_attempts": 0},
        {"backoff": "random"},
        {"first": -1},
        {"first": 31},
        {"cap": 86_401},
        {"factor": 0},
        {"jitter": 2},
    ):
        with pytest.raises(InvalidInput) as found:
            Retry(**bad)
        assert found.value.code == "kernel.bad_retry"


BAD_BRANCHES: dict[str, tuple[Callable[[Context], Any], str]] = {
    "empty race": (lambda ctx: ctx.race("r"), "give it at least one"),
    "the same key twice": (lambda ctx: ctx.join("j", {"x": _nothing}, x=_nothing), "two branches `x`"),
    "a called function": (lambda ctx: ctx.join("j", x=5), "pass the function, not `fn(ctx)`"),
    "a loop over no function": (lambda ctx: ctx.loop("l", 5), "pass the function, not `fn(ctx)`"),
    "too many": (lambda ctx: ctx.join("j", {str(n): _nothing for n in range(10_001)}), "use at most 10000"),
}


async def _nothing(ctx: Context) -> None: ...


@pytest.mark.parametrize("case", BAD_BRANCHES)
async def test_branches_that_can_not_run_are_refused(case: str) -> None:
    call, part = BAD_BRANCHES[case]

    async def body(ctx: Context) -> Any:
        return await call(ctx)

    says(await caught(body), "CODE_BRANCH", part)


@pytest.mark.parametrize("key", ["", "x" * 501, "a\0b"])
async def test_the_name_of_a_branch_is_checked_like_others(key: str) -> None:
    says(await caught(lambda ctx: ctx.join("j", {key: _nothing})), "CODE_BAD_NAME", "branch name")


async def test_a_coroutine_given_as_a_branch_is_explained() -> None:
    async def body(ctx: Context) -> None:
        called = _nothing(ctx)
        try:
            await ctx.join("j", x=called)  # type: ignore[arg-type]
        finally:
            called.close()

    says(await caught(body), "CODE_BRANCH", "pass the function, not `fn(ctx)`")


async def test_a_branch_that_is_a_plain_function_fails_as_a_branch() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        try:
            await ctx.join("j", x=lambda c: 5, y=lambda c: 1 / 0, z=_nothing)  # type: ignore[arg-type]
        except JoinError as error:
            return [str(part) for part in error.errors.values()]
        return []

    async with deciding() as s:
        plain, raised = await s.run(w)
    assert "make it an async function" in plain
    assert "CODE_BRANCH" in plain
    assert "division by zero" in raised


async def test_misuse_in_a_step_is_not_tried_again() -> None:
    calls: list[int] = []

    @workflow
    async def w(ctx: Context) -> str:
        async def careless() -> None:
            calls.append(1)
            raise WorkflowCodeError("BAD_OPTION", "made by hand")

        try:
            await ctx.step("a", careless)
        except StepExhaustedError:
            return "tried again"
        except WorkflowCodeError as error:
            return error.code
        return ""

    async with deciding() as s:
        assert await s.run(w) == "CODE_BAD_OPTION"
    assert calls == [1]


async def test_what_was_caught_does_not_stop_the_run() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        try:
            await ctx.step("", lambda: 1)
        except WorkflowCodeError:
            await ctx.sleep("nap", 1)
        return await ctx.step("a", lambda: 2)

    async with deciding() as s:
        run = await s.start(w)
        await s.crash()
        assert await s.result(run) == 2


async def test_the_code_of_an_error_is_told_once() -> None:
    @workflow
    async def w(ctx: Context) -> int:
        await ctx.step("a", lambda: 1)
        return await ctx.step("a", lambda: 2)

    async with deciding() as s:
        with pytest.raises(RunFailed) as failed:
            await s.result(await s.start(w))
    assert str(failed.value).count("CODE_DUPLICATE_NAME") == 1
    assert "CODE_" not in failed.value.error.message
