"""Answers from outside: webhooks of async steps, which reach a run as messages.

`work:<token>` brings the outputs of an item, an object; `failed:<token>` says why it failed: an object with `detail` or
`title`, as in problem+json.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import Conflict, InvalidInput, NotFound
from plait.kernel.inputs import Message

from .compiled_plan import StepPlan
from .decision_builder import DecisionBuilder
from .events import LateResult
from .state import ItemState
from .work import answered, failed, stop_waiting

WORK, FAILED = "work:", "failed:"

_object = msgspec.json.Decoder(dict[str, Raw])


def message(builder: DecisionBuilder, sent: Message) -> None:
    kind, _, token = sent.name.partition(":")
    if f"{kind}:" not in (WORK, FAILED):
        raise Conflict(
            "goals.unknown_message",
            f"a run towards goals takes no message '{sent.name[:80]}'",
            fix="send `work:<token>` with the outputs of an async step",
        )
    plan, item = awaited(builder, token)
    if f"{kind}:" == FAILED:
        _fail(builder, plan, token, item, reason(values.decode(sent.body)))
    else:
        _answer(builder, plan, token, item, outputs_of(sent.body))


def awaited(builder: DecisionBuilder, token: str) -> tuple[StepPlan, ItemState]:
    """The item whose answer may come from outside, be it that it came already."""
    found = builder.flow.find(token)
    if found is None or found[0].step.type != "async" or found[2].started_at is None:
        raise NotFound(
            "goals.unknown_work", f"nobody waits for work '{token[:80]}'", fix="use the webhook as it was sent"
        )
    return found[0], found[2]


def _answer(builder: DecisionBuilder, plan: StepPlan, token: str, item: ItemState, outputs: dict[str, Raw]) -> None:
    if not item.open or item.returned or not builder.flow.hears:
        builder.record(LateResult(plan.id, token, Raw(msgspec.json.encode(outputs))))
        return
    stop_waiting(builder, token, item)
    answered(builder, plan, token, outputs)


def _fail(builder: DecisionBuilder, plan: StepPlan, token: str, item: ItemState, error: str) -> None:
    if not item.open or item.returned or not builder.flow.hears:
        builder.record(LateResult(plan.id, token, error=error))
        return
    stop_waiting(builder, token, item)
    failed(builder, plan, token, error, item.attempts + 1)


def reason(problem: Any) -> str:
    """What a problem says: its detail, else its title."""
    if isinstance(problem, dict):
        found = cast("dict[str, Any]", problem)
        for key in ("detail", "title"):
            if isinstance(found.get(key), str) and found[key]:
                return cast("str", found[key])
    return "the step server reported a failure"


def outputs_of(body: Raw) -> dict[str, Raw]:
    try:
        return _object.decode(body)
    except msgspec.ValidationError:
        if bytes(body) == b"null":
            return {}
        raise InvalidInput(
            "goals.bad_outputs", "outputs are no object", fix="send an object of names and values"
        ) from None
