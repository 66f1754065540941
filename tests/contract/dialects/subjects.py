"""The dialects under contract, each with scenarios that use what it has. A new dialect adds itself here."""

from __future__ import annotations

from typing import Any

from plait import Context, Loop, Retry, Undo, workflow
from plait.dialects.code.bundle import CodeBundle
from plait.kernel.approval import Escalation
from plait.kernel.bundle import Bundle
from plait.kernel.ids import Millis
from tests.contract.dialects.afl import SCENARIOS as AFL
from tests.contract.dialects.afl import AflPrograms
from tests.contract.dialects.goals import SCENARIOS, Goals
from tests.contract.dialects.graph import SCENARIOS as GRAPHS
from tests.contract.dialects.graph import Graphs
from tests.contract.dialects.kit import Scenario, Subject, cancel, decide, message, retry, wait
from tests.contract.dialects.refs import SCENARIOS as REFS
from tests.contract.dialects.refs import RefWorkflows
from tests.kernel.toy import ToyBundle, ask, child, count, fail, nap, task, tell


class Toy(Subject):
    name = "toy"

    def __init__(self) -> None:
        self.failures: dict[str, int] = {}

    def dialect(self) -> Bundle:
        return ToyBundle({"flaky": flaky(self, "flaky", 2), "once": flaky(self, "once", 1)})


class Code(Subject):
    name = "code"

    def __init__(self) -> None:
        self.failures: dict[str, int] = {}

    def dialect(self) -> Bundle:
        return CodeBundle(FLOWS)


def flaky(subject: Toy, name: str, times: int) -> Any:
    """Fails as often as told, over all attempts and all processes."""

    def call() -> str:
        subject.failures[name] = subject.failures.get(name, 0) + 1
        if subject.failures[name] <= times:
            raise ConnectionError("not yet")
        return "at last"

    return call


VOTES = [decide(), wait(60), decide(by="bob")]
LATER = (Escalation(Millis(30_000), ("bob",)),)

TOY = [
    Scenario("nothing", []),
    Scenario("tasks", [task("a"), task("b"), task("c")]),
    Scenario("a task that is tried again", [task("flaky", attempts=3), task("b")]),
    Scenario("a sleep", [task("a"), nap(60_000), task("b")]),
    Scenario("messages", [count(3), task("a")], acts=[message("add", 1, "m-1"), message("add", 2, "m-2")]),
    Scenario("an approval", [ask("boss"), task("a")], acts=[decide()]),
    Scenario("an approval of two", [ask("board", 2, ("ann", "bob"), LATER), task("a")], acts=VOTES),
    Scenario("an approval that one rejects", [ask("board", 2), task("a")], acts=[decide(), decide("reject", "bob")]),
    Scenario("an approval that is withdrawn", [ask("board", 2, (), LATER)], acts=[decide(), wait(60), cancel()]),
    Scenario("a child", [child(task("a"), nap(1_000)), task("b")]),
    Scenario("a child that fails", [child(fail("no")), task("b")]),
    Scenario("a message to itself", [tell("run", 2), count(2)]),
    Scenario("a failure that undoes", [task("pay", undo="refund"), task("ship", undo="fetch"), fail("sold out")]),
    Scenario("a cancel", [nap(60_000)], acts=[cancel()]),
    Scenario("a cancel that undoes", [task("pay", undo="refund"), nap(60_000)], acts=[wait(1), cancel(True)]),
    Scenario("a retry of what failed", [task("a"), task("once"), task("b")], acts=[retry()]),
]


# -- the code dialect ------------------------------------------------------------------------------------------------

_tries: dict[str, int] = {}


async def give(value: Any) -> Any:
    return value


async def undo(what: Undo) -> None:
    return None


async def not_yet() -> str:
    raise ConnectionError("not yet")


@workflow
async def nothing(ctx: Context) -> str:
    return "done"


@workflow
async def steps(ctx: Context, count: int) -> list[int]:
    return [await ctx.step(f"s{number}", give, number) for number in range(count)]


@workflow
async def exhausted(ctx: Context) -> str:
    try:
        return await ctx.step("hard", not_yet, retry=Retry(max_attempts=2, first=1))
    except Exception as error:
        return type(error).__name__


@workflow
async def sleepy(ctx: Context) -> str:
    await ctx.step("a", give, 1)
    await ctx.sleep("nap", 60)
    return str(await ctx.step("b", give, 2))


@workflow
async def listening(ctx: Context) -> list[Any]:
    found: list[Any] = []
    for number in range(2):
        heard = await ctx.listen(f"l{number}", "add", timeout=3600)
        found.append(None if heard is None else heard.body)
    late = await ctx.listen("late", timeout=5)
    return [*found, late]


@workflow
async def approving(ctx: Context) -> str:
    return (await ctx.approve("manager")).decision


@workflow
async def signing(ctx: Context) -> list[str]:
    names = {"approvers": ["ann", "cleo"], "escalate_after": 30, "escalate_to": ["bob"]}
    verdict = await ctx.approve("board", required=2, timeout=3600, **names)
    return [verdict.decision, verdict.by]


@workflow
async def having_children(ctx: Context) -> Any:
    return [await ctx.child("kid", steps, 2), await ctx.child("nap", sleepy)]


@workflow
async def disappointed(ctx: Context) -> str:
    try:
        await ctx.child("kid", failing)
    except Exception as error:
        return type(error).__name__
    return "?"


@workflow
async def failing(ctx: Context) -> None:
    await ctx.step("pay", give, 1, rollback=undo)
    await ctx.step("ship", give, 2, rollback=undo)
    raise ValueError("sold out")


@workflow
async def side_by_side(ctx: Context) -> Any:
    async def quick(ctx: Context) -> int:
        return await ctx.step("s", give, 1)

    async def slow(ctx: Context) -> int:
        await ctx.sleep("nap", 10)
        return 2

    both = await ctx.join("both", quick=quick, slow=slow)
    won = await ctx.race("first", quick=quick, slow=slow)
    return [both["quick"], both["slow"], won.winner, won.value]


@workflow
async def looping(ctx: Context) -> int:
    async def body(ctx: Context, state: int) -> Any:
        await ctx.step("s", give, state)
        return Loop.break_(state) if state == 5 else Loop.continue_(state + 1)

    return await ctx.loop("l", body, state=0, commit_interval=2)


@workflow
async def undoing(ctx: Context) -> None:
    await ctx.step("pay", give, 1, rollback=undo)
    await ctx.sleep("nap", 3600)


FLOWS = [
    nothing,
    steps,
    exhausted,
    sleepy,
    listening,
    approving,
    signing,
    having_children,
    disappointed,
    failing,
    side_by_side,
    looping,
    undoing,
]

CODE = [
    Scenario("nothing", nothing),
    Scenario("steps", steps, 4),
    Scenario("a step that is tried again", exhausted),
    Scenario("a sleep", sleepy),
    Scenario("messages", listening, acts=[message("add", 1, "m-1"), message("add", 2, "m-2")]),
    Scenario("an approval", approving, acts=[decide()]),
    Scenario("an approval of two", signing, acts=VOTES),
    Scenario("an approval that expires", signing, acts=[decide()]),
    Scenario("children", having_children),
    Scenario("a child that fails", disappointed),
    Scenario("a failure that undoes", failing),
    Scenario("joins and races", side_by_side),
    Scenario("a loop", looping),
    Scenario("a cancel", sleepy, acts=[cancel()]),
    Scenario("a cancel that undoes", undoing, acts=[wait(1), cancel(True)]),
]

AnySubject = type[Toy] | type[Code] | type[Goals] | type[Graphs] | type[RefWorkflows] | type[AflPrograms]

ALL: list[tuple[AnySubject, Scenario]] = [
    *((Toy, scenario) for scenario in TOY),
    *((Code, scenario) for scenario in CODE),
    *((Goals, scenario) for scenario in SCENARIOS),
    *((Graphs, scenario) for scenario in GRAPHS),
    *((RefWorkflows, scenario) for scenario in REFS),
    *((AflPrograms, scenario) for scenario in AFL),
]
NAMES = [f"{subject.name}: {scenario.name}" for subject, scenario in ALL]
