"""The `goals` dialect under contract: its steps are Python functions, scripts, and a step server that never answers."""

from __future__ import annotations

from typing import Any

from plait.dialects.goals.definition import goals
from plait.dialects.goals.dialect import GoalsDialect
from plait.dialects.goals.running.state import item_token
from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.dialects.goals.steps.handlers import Handlers
from plait.kernel.bundle import Bundle
from plait.scripts.languages import Languages
from plait.workers.python import Functions
from tests.contract.dialects.kit import RUN, Act, Scenario, Subject, after_the_end, cancel, message, retry, wait
from tests.dialects.goals.declaring import catalog_of
from tests.dialects.goals.running.wire import Wire
from tests.dialects.goals.work.rig import executors_of

GIVEN = [*"abcdefgioprswxyz", "paid", "shipped", "thanked"]
SEED = 1
"""That the kit starts every run with."""


class Goals(Subject):
    name = "goals"

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    def dialect(self) -> Bundle:
        wire = Wire()
        wire.plays("/render", (202, None))
        wire.plays("/undo", (200, None))
        known = {
            "do": self._do,
            "flaky": self._flaky,
            "fussy": self._fussy,
            "never": self._never,
            "once": self._once,
            "undo": self._undo,
        }
        functions = Functions()
        for name, function in known.items():
            functions.add(name, function)
        dialect = _Unwired(_Fixed(), Handlers(functions))  # pyright: ignore[reportArgumentType]
        dialect.executors = executors_of(functions, Languages(), wire.send)
        return dialect

    async def _do(self, **inputs: Any) -> dict[str, Any]:
        """Gives everything that anybody may want."""
        return dict.fromkeys(GIVEN, sorted(map(str, inputs.values())))

    async def _flaky(self, **inputs: Any) -> dict[str, Any]:
        """Fails twice for each of its inputs, over all processes."""
        key = str(sorted(inputs.items()))
        self.calls[key] = self.calls.get(key, 0) + 1
        if self.calls[key] <= 2:
            raise ConnectionError("not yet")
        return await self._do(**inputs)

    async def _fussy(self, xs: int) -> dict[str, Any]:
        if xs == 2:
            raise ValueError("not two")
        return {"r": xs}

    async def _never(self, **inputs: Any) -> dict[str, Any]:
        raise ValueError("never")

    async def _once(self, **inputs: Any) -> dict[str, Any]:
        """Fails the first time."""
        self.calls["once"] = self.calls.get("once", 0) + 1
        return await (self._never() if self.calls["once"] == 1 else self._do(**inputs))

    async def _undo(self, input: Any, output: Any) -> None: ...


class _Fixed:
    """A catalog that stays as it is."""

    def __init__(self) -> None:
        self._catalog = catalog_of(*STEPS)

    def get(self, namespace: str) -> Any:
        return self._catalog

    async def refresh(self, namespace: str) -> Any:
        return self._catalog

    def sequence(self, namespace: str) -> int:
        return 1


class _Unwired(GoalsDialect):
    """The dialect without an engine around it."""

    def declare(self, definition: object) -> bool:
        return False

    async def open(self, *, working: bool) -> None:
        return None

    async def drain(self) -> None:
        return None

    async def close(self) -> None:
        return None


def made(id: str, needs: str = "", gives: str = "", handler: str = "do", undo: str = "") -> StepBuilder:
    building = catalog_step(id).python(handler, compensate=undo)
    for name in needs.split():
        building = building.required(name)
    for name in gives.split():
        building = building.output(name)
    return building


def rendering(id: str, gives: str, **options: Any) -> StepBuilder:
    return catalog_step(id).output(gives).webhook("http://steps.test/render", **options).retries(1, first=1)


STEPS = [
    made("chain-1", "n", "a"),
    made("chain-2", "a", "b"),
    made("chain-3", "a b", "c"),
    catalog_step("scripted").required("c").output("d").ale('{:d (str "d" c)}').when("ale", "true"),
    made("race-1", "n", "r"),
    made("race-2", "n", "r"),
    made("race-3", "s", "r"),
    made("slow", "n", "s", "flaky").retries(5, first=1),
    made("winner", "r", "w"),
    catalog_step("fan").required("xs", for_each=True).output("x").python("flaky").parallel(2).retries(5, first=1),
    catalog_step("kept").required("xs", for_each=True).output("k").ale("{:k xs}").when("ale", "(> xs 1)", scope="item"),
    made("refused", "n", "f").when("ale", "false"),
    made("lost", "f", "g"),
    made("patient", "n", "p").optional("late", default=0, deadline=5),
    rendering("late", "late", callback_timeout=20, recall=False),
    made("prompt", "n", "q").optional("s", default=0, deadline=-1),
    catalog_step("picky").required("m", match=("ale", "(= value 2)")).required("a").output("o").python("do"),
    catalog_step("give-1").required("n").output("m").ale("{:m 1}"),
    catalog_step("give-2").required("n").output("m").ale("{:m 2}"),
    rendering("render", "image", recall=False),
    rendering("forgotten", "lost-image", callback_timeout=10, recall=False),
    catalog_step("show").required("image").output("shown").ale("{:shown image}"),
    made("child-1", "u", "v"),
    made("child-2", "v", "y"),
    catalog_step("inner").required("us", for_each=True, inner="u").output("y").flow("child-2"),
    made("pay", "n", "paid", undo="undo"),
    made("ship", "paid", "shipped", undo="undo"),
    made("thank", "shipped", "thanked", "never").no_retries(),
    made("review", "shipped", "z", "once").no_retries(),
    catalog_step("partly")
    .required("xs", for_each=True)
    .output("r")
    .python("fussy", compensate="undo")
    .parallel(3)
    .no_retries(),
    made("in-any-case", "n r", "i"),
    rendering("draw", "drawn", recall=False, compensate="http://steps.test/undo"),
    made("fail", "n", "failed", "never").no_retries(),
]


def token(step_id: str, place: int = 0) -> str:
    return item_token(RUN, SEED, step_id, place)


def callback(step_id: str, **outputs: Any) -> Act:
    return message(f"work:{token(step_id)}", outputs, f"callback-{step_id}")


SCENARIOS = [
    Scenario("nothing", goals("chain-1"), {"a": 1}),
    Scenario("a chain", goals("chain-3"), {"n": 1}),
    Scenario("scripts", goals("scripted"), {"n": 1}),
    Scenario("providers that race", goals("winner"), {"n": 1}),
    Scenario("items that are tried again in few slots", goals("fan"), {"xs": [1, 2, 3, 4]}),
    Scenario("items that a predicate drops", goals("kept"), {"xs": [1, 2, 3]}),
    Scenario("a predicate that says no", goals("lost"), {"n": 1}),
    Scenario("an optional input that is not waited for any longer", goals("patient"), {"n": 1}),
    Scenario("an optional input that comes", goals("prompt"), {"n": 1}),
    Scenario("matches", goals("picky"), {"n": 1}),
    Scenario("a callback", goals("show"), {}, acts=[callback("render", image="i")]),
    Scenario("a callback that never comes", goals("forgotten"), {}),
    Scenario("children", goals("inner"), {"us": [1, 2]}),
    Scenario("a failure that undoes", goals("thank"), {"n": 1}),
    Scenario("a failed step that is undone while its run goes on", goals("in-any-case"), {"n": 1, "xs": [1, 2, 3]}),
    Scenario(
        "an answer that comes when its run has failed",
        goals("draw", "fail", "pay"),
        {"n": 1},
        acts=[after_the_end(callback("draw", drawn=1))],
    ),
    Scenario("a cancel", goals("render"), {}, acts=[cancel()]),
    Scenario("a cancel that undoes", goals("ship", "render"), {"n": 1}, acts=[wait(1), cancel(True)]),
    Scenario("a retry of what failed and was undone", goals("review"), {"n": 1}, acts=[retry()]),
]
