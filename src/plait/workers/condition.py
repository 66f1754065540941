"""Tasks of the kind `condition`: a condition with Python, which no decision may run. The result is the verdict."""

from __future__ import annotations

from plait.conditions import InvalidCondition, Verdict, at_a_node, compile
from plait.kernel import values
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import CONDITION, ConditionInput

from .script import HasLanguages


class ConditionExecutor:
    kinds = (CONDITION,)

    def __init__(self, owner: HasLanguages) -> None:
        self._owner = owner

    async def execute(self, task: Task, attempt: Attempt) -> Verdict:
        from plait.scripts.python.condition import ConditionSandbox  # imported with the first condition

        wanted: ConditionInput = task.input
        output, ctx, input, metadata = (
            values.decode(each) for each in (wanted.output, wanted.ctx, wanted.input, wanted.metadata)
        )
        try:
            condition = compile(values.decode(wanted.condition))
        except InvalidCondition as error:
            raise TaskError(error.text, retryable=False) from None
        facts = at_a_node(output, ctx, input, metadata, wanted.node)
        return await condition.judge_in(ConditionSandbox(self._owner.languages.python), facts)
