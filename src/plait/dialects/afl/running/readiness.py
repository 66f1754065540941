"""Whether a step that something has happened to can do anything; otherwise it is not driven."""

from __future__ import annotations

from plait.dialects.afl.program.parts import Yield

from .nodes import SELF, StepNode
from .states import BLOCKS_CONTINUE, CATCH_CONTINUE, EXECUTION_BEGIN, EXECUTION_CONTINUE, MIXIN_BLOCKS_CONTINUE


def can_move(node: StepNode) -> bool:
    if node.terminal or node.waits:
        return False
    match node.record.state:
        case state if state in (MIXIN_BLOCKS_CONTINUE, BLOCKS_CONTINUE, CATCH_CONTINUE):
            return node.open == 0
        case state if state == EXECUTION_BEGIN:
            return bool(node.upstream) or not node.pending.get(SELF)
        case state if state == EXECUTION_CONTINUE:
            return _block_can_move(node)
        case _:
            return True


def _block_can_move(node: StepNode) -> bool:
    plan = node.plan
    assert plan is not None
    if node.failed or node.upstream or plan.kind in ("foreach", "when"):
        return node.open == 0
    if plan.kind == "script" or not node.indexed:
        return True
    if any(not isinstance(plan.entries[key][1], Yield) for key in node.ready):
        return True
    if node.left:
        return False
    return not node.pending or any(not missing for missing in node.pending.values())
