"""An agent as a step of a definition: its settings in JSON, the same for all dialects whose steps take an object and
return one. The step's input is the payload."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Raw

from plait.kernel import values
from plait.kernel.task_inputs import AgentBudget, AgentInput
from plait.kernel.values import ABSENT

from .models import Models

UNPRICED_FIX: Final = "give its price to the engine, or limit tokens"


class AgentStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    model: Annotated[str, Meta(min_length=1)]
    prompt: Annotated[str, Meta(min_length=1)]
    instructions: str = ""
    tools: tuple[str, ...] | None = None
    """None: the two built-in tools that change nothing."""
    output_schema: dict[str, Any] | None = None
    temperature: Annotated[float, Meta(ge=0)] = 0.3
    max_tokens: Annotated[int, Meta(ge=1)] = 4_096
    max_turns: Annotated[int, Meta(ge=1)] = 10
    timeout_sec: Annotated[float, Meta(gt=0)] = 300.0
    max_total_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_cost_usd: Annotated[float, Meta(ge=0)] | None = None

    def unpriced(self, models: Models) -> str:
        """A problem with the budget, or an empty string."""
        if self.max_cost_usd is None or not models.lacks_price(self.model):
            return ""
        return f"has a budget in USD, but the price of model `{self.model}` is not known"

    def input(
        self, payload: Raw, *, execution: str, node_id: str, workflow: str, schema: dict[str, Any] | None = None
    ) -> AgentInput:
        """`schema`: the output's schema if the step has none of its own."""
        wanted = self.output_schema or schema
        return AgentInput(
            model=self.model,
            prompt=self.prompt,
            execution=execution,
            node_id=node_id,
            payload=payload,
            instructions=self.instructions,
            output_schema=ABSENT if wanted is None else Raw(values.plain(wanted)),
            tools=self.tools,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            max_turns=self.max_turns,
            timeout=self.timeout_sec,
            budget=AgentBudget(self.max_total_tokens, self.max_cost_usd),
            workflow_tag=workflow,
            handler=f"model:{self.model}",
        )


def read_agent_step(written: Any) -> AgentStep:
    """Raises `ValueError` with the problem."""
    try:
        return msgspec.convert(written, AgentStep)
    except msgspec.ValidationError as error:
        what, at, place = str(error).partition(" - at `$.")
        raise ValueError(f"`{place.rstrip('`')}`: {what[:1].lower()}{what[1:]}" if at else what) from None
