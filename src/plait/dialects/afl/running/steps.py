"""The work of a step in each of its states. A state's function says whether the step moves to the next state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import blocks, states
from .afl_run import bodies_of
from .arguments import check_types, initialize, mixin_args, mixins_of, with_defaults
from .capture import captured, returns_of
from .causes import cause_among
from .failures import StepError
from .iteration import Iteration
from .nodes import StepNode
from .states import TABLES
from .work import ask_event, ask_script

Handler = Callable[[Iteration, StepNode], bool]


def drive(it: Iteration, node: StepNode) -> None:
    """Moves a step through its table until it has ended, waits, or has nothing to do."""
    while not node.terminal:
        state = node.record.state
        try:
            if not HANDLERS.get(state, _pass)(it, node):
                return
        except StepError as failure:
            it.fail(node, failure.info)
            continue
        if node.record.state == state:  # otherwise it failed or was caught
            it.move(node, TABLES[node.table][state])


def _pass(it: Iteration, node: StepNode) -> bool:
    return True


def _initialize(it: Iteration, node: StepNode) -> bool:
    initialize(it, node)
    return True


def _scripts(it: Iteration, node: StepNode) -> bool:
    script = None if node.table != "STEP" or node.declaration is None else node.declaration.script
    if script is None:
        return True
    if not node.asked:
        ask_script(it, node, script, node.record.params)
        return False
    return _answered(node)


def _answered(node: StepNode) -> bool:
    if not node.answered:
        return False
    node.asked = node.answered = False
    return True


# -- mixins ------------------------------------------------------------------------------------------------------------


def _begin_mixins(it: Iteration, node: StepNode) -> bool:
    for place, (mixin, _) in enumerate(mixins_of(node)):
        found = it.run.program.find(mixin.target)
        if found is not None and found.runs:
            it.create(
                "Facet",
                container=node,
                statement_id=f"mixin-{place}",
                name=mixin.alias or found.short,
                facet=mixin.target,
            )
    return True


def _await_mixins(it: Iteration, node: StepNode) -> bool:
    return _await(node, node.mixins)


def _await(node: StepNode, inside: Sequence[StepNode]) -> bool:
    """Waits for all mixins, even if one has failed."""
    if node.open:
        return False
    if node.failed:
        node.failed = False
        cause = cause_among(inside)
        if cause is not None:
            raise Failed(cause)
    return True


class Failed(StepError):
    """Something inside the step failed: the step fails with the same error."""

    def __init__(self, inside: StepNode) -> None:
        found = inside.record.error
        assert found is not None
        super().__init__(found.code, found.message, found.type)
        self.info = found


def _capture_mixins(it: Iteration, node: StepNode) -> bool:
    written = mixins_of(node)
    for each in node.mixins:
        mixin, signature = written[each.place]
        if mixin.alias:
            args = mixin_args(it.run, node, mixin, signature=signature)
            it.set_params(node, {mixin.alias: {**args, **each.record.returns}})
        elif each.record.returns:
            it.set_returns(node, dict(each.record.returns))
    return True


# -- events ------------------------------------------------------------------------------------------------------------


def _transmit(it: Iteration, node: StepNode) -> bool:
    if node.declaration is None or node.declaration.kind != "event":
        return True
    if not node.asked:
        ask_event(it, node)
        return False
    return _answered(node)


# -- blocks ------------------------------------------------------------------------------------------------------------


def _begin_blocks(it: Iteration, node: StepNode) -> bool:
    kinds: Mapping[str, Any] = {"foreach": "AndMap", "when": "AndMatch"}
    for place, plan in enumerate(bodies_of(node)[0]):
        it.create(kinds.get(plan.kind, "AndThen"), container=node, statement_id=f"block-{place}")
    return True


def _await_blocks(it: Iteration, node: StepNode) -> bool:
    return _await(node, node.blocks)


def _begin_catch(it: Iteration, node: StepNode) -> bool:
    node.failed = False
    it.create("AndCatch", container=node, statement_id=f"catch-block-{node.record.caught - 1}")
    return True


def _await_catch(it: Iteration, node: StepNode) -> bool:
    return _await(node, node.catches[-1:])


def _capture(it: Iteration, node: StepNode) -> bool:
    found = returns_of(node, captured(node))
    if found:
        if node.declaration is not None:
            check_types(it, node, found, node.declaration.returns, "yield")
        it.set_returns(node, found)
    return True


def _fill_returns(it: Iteration, node: StepNode) -> bool:
    """Declared returns that are still missing get their defaults."""
    if node.declaration is None or not any(each.default is not None for each in node.declaration.returns):
        return True
    before = node.record.returns
    filled = with_defaults(node.declaration.returns, before)
    new = {name: value for name, value in filled.items() if name not in before}
    if new:
        it.set_returns(node, new)
    return True


HANDLERS: Mapping[str, Handler] = {
    states.INIT_BEGIN: _initialize,
    states.SCRIPTS_BEGIN: _scripts,
    states.MIXIN_BLOCKS_BEGIN: _begin_mixins,
    states.MIXIN_BLOCKS_CONTINUE: _await_mixins,
    states.MIXIN_CAPTURE_BEGIN: _capture_mixins,
    states.EVENT_TRANSMIT: _transmit,
    states.BLOCKS_BEGIN: _begin_blocks,
    states.BLOCKS_CONTINUE: _await_blocks,
    states.CATCH_BEGIN: _begin_catch,
    states.CATCH_CONTINUE: _await_catch,
    states.CAPTURE_BEGIN: _capture,
    states.CAPTURE_END: _fill_returns,
    states.EXECUTION_BEGIN: blocks.begin,
    states.EXECUTION_CONTINUE: blocks.go_on,
}
