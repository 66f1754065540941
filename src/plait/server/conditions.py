"""Evaluates conditions on data that the caller sends."""

from __future__ import annotations

from plait import conditions
from plait.api.condition import ConditionProblem, ConditionTest, ConditionVerdict
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Scoped
from plait.conditions import MAX_LEAVES, Verdict
from plait.scripts.python.condition import ConditionSandbox

from .call import Call


async def evaluate(call: Call[Scoped, ConditionTest]) -> Answer:
    body, engine = call.body, call.host.engine
    blobs = await _loaded(call, conditions.references(body.condition))
    condition = conditions.compile(body.condition, "/condition", blobs=blobs)
    facts = conditions.at_a_node(body.output, body.ctx, body.input)
    return Answer(_shape(await condition.judge_in(ConditionSandbox(engine.executors.languages.python), facts)))


async def _loaded(call: Call[Scoped, ConditionTest], references: frozenset[str]) -> dict[str, bytes]:
    if len(references) > MAX_LEAVES:  # the condition will be refused anyway
        return {}
    texts = await call.host.engine.definitions.uploads.load(references, call.namespace)
    return {reference: text.encode() for reference, text in texts.items()}


def _shape(verdict: Verdict) -> ConditionVerdict:
    error = verdict.error
    problem = error and ConditionProblem(code=error.code, message=error.message, soft=error.soft)
    return ConditionVerdict(value=verdict.value, error=problem)


ROUTES = (
    Route(
        method="POST",
        path="/conditions/test",
        name="conditions.test",
        role="editor",
        summary="Evaluate a condition on data, without a run",
        handler=evaluate,
        query=Scoped,
        body=ConditionTest,
        replies=(Reply(200, ConditionVerdict, "Its value, or why it has none."),),
        faults=(Fault(422, "condition.syntax", "The condition can't be used; the flaws say where and why."),),
        audited=False,
        example={"condition": "output.score >= 80", "output": {"score": 85}},
    ),
)
