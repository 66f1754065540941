"""Blocks: they create the steps whose dependencies are complete, and end when everything inside has.

The dependencies of a block's statements are found once, when it begins: `pending` has its statements with the steps
that each still needs, `ready` those that need none any more. Yields wait for all other statements of the block.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from msgspec import Raw

from plait.dialects.afl.program.parts import Block, Refs, Statement, Sys, Yield
from plait.kernel import values
from plait.kernel.errors import ErrorInfo

from .causes import cause_among
from .evaluation import evaluate, holds
from .events import SysDone, WhenEvaluated
from .failures import ASSERT, EVALUATION, UPSTREAM, LimitReached, StepError, error
from .iteration import Iteration
from .limits import MAX_ELEMENTS
from .nodes import SELF, StepNode
from .scope import BlockScope, dependencies
from .state import Element, Judged
from .states import ERROR
from .types import kind_of
from .work import ask_script


def begin(it: Iteration, node: StepNode) -> bool:
    """Starts the block; returns whether it goes on to wait for what is inside it."""
    plan = node.plan
    assert plan is not None
    match plan.kind:
        case "steps":
            index(it, node)
            return True
        case "script":
            assert plan.script is not None
            assert node.container is not None
            ask_script(it, node, plan.script, node.container.record.params)
            return True
        case "foreach" | "when":
            if not _may_look(it, node, plan.refs):
                return False
            it.waited_for(node, [*dict.fromkeys(dependencies(it.run, node, plan.refs))])
            if plan.kind == "foreach":
                _foreach(it, node)
            else:
                _when(it, node)
            return True


def go_on(it: Iteration, node: StepNode) -> bool:
    """Continues the block; returns whether everything inside it is complete."""
    plan = node.plan
    assert plan is not None
    if plan.kind == "script":
        return not node.waits
    if plan.kind == "steps" and not (node.failed or node.upstream):
        if node.indexed:
            _create_ready(it, node)
        else:
            index(it, node)
    if node.failed or node.upstream:
        _give_up(it, node)
        return False
    if plan.kind != "steps":
        return node.open == 0
    return node.left == 0 and not node.pending and node.left_yields == 0


def _may_look(it: Iteration, node: StepNode, refs: Refs) -> bool:
    """Whether the steps that a source or conditions refer to are complete."""
    if node.upstream:
        raise StepError(UPSTREAM, _upstream(it, node))
    if SELF in node.pending:
        if node.pending[SELF]:
            return False
        del node.pending[SELF]
        node.ready.clear()
        return True
    missing = _missing(it, node, refs)
    if missing:
        _wait(it, node, SELF, missing)
    return not missing


# -- steps -------------------------------------------------------------------------------------------------------------


def index(it: Iteration, node: StepNode) -> None:
    """Finds what each statement waits for; after a load, only for those that don't exist yet."""
    plan = node.plan
    assert plan is not None
    node.indexed = True
    node.left = node.left_yields = 0
    waits = _statement_refs(plan.steps, plan.sys)
    for key, refs in waits:
        member = node.members.get(key)
        if member is not None or key in node.record.sys:
            node.left += member is not None and not member.done
            continue
        node.left += 1
        _expect(it, node, key, refs)
    for each in plan.yields:
        member = node.members.get(each.id)
        node.left_yields += member is None or not member.done
        if member is None:
            _expect(it, node, each.id, each.call.refs)
    _create_ready(it, node)


def _statement_refs(steps: Iterable[Statement], sys: Iterable[Sys]) -> list[tuple[str, Refs]]:
    return [*((each.id, each.call.refs) for each in steps), *((each.id, each.refs) for each in sys)]


def _expect(it: Iteration, node: StepNode, key: str, refs: Refs) -> None:
    missing = _missing(it, node, refs)
    _wait(it, node, key, missing)
    if not missing:
        node.ready.append(key)


def _missing(it: Iteration, node: StepNode, refs: Refs) -> set[str]:
    run = it.run
    missing: set[str] = set()
    for id in dependencies(run, node, refs):
        other = run.nodes.get(id)
        if other is None or not other.done:
            missing.add(id)
    return missing


def _wait(it: Iteration, node: StepNode, key: str, missing: set[str]) -> None:
    node.pending[key] = missing
    for id in missing:
        other = it.run.nodes.get(id)
        failed = other is not None and other.noticed and other.record.state == ERROR
        if failed or id in it.run.hopeless:
            node.upstream = node.upstream or id
            it.run.abandon(node)
        else:
            it.run.waiters.setdefault(id, []).append((node, key))


def _create_ready(it: Iteration, node: StepNode) -> None:
    plan = node.plan
    assert plan is not None
    ready, node.ready = node.ready, []
    entries = plan.entries
    for key in sorted(set(ready), key=lambda each: entries[each][0]):
        found = entries[key][1]
        if isinstance(found, Yield) or key not in node.pending or node.failed:
            continue
        del node.pending[key]
        if isinstance(found, Sys):
            _do_sys(it, node, found)
        else:
            _create_step(it, node, found)
    _create_yields(it, node, plan)


def _create_yields(it: Iteration, node: StepNode, plan: Block) -> None:
    """Creates yields last, so that they include those freed by what was just done: nothing else would trigger them."""
    for found in plan.yields if node.left == 0 and not node.failed else ():
        if found.id in node.pending and not node.pending[found.id]:
            del node.pending[found.id]
            _create_yield(it, node, found)


def _create_step(it: Iteration, node: StepNode, statement: Statement) -> None:
    target = it.run.program.find(statement.call.target)
    schema = target is not None and target.kind == "schema"
    it.create(
        "SchemaInstantiation" if schema else "VariableAssignment",
        container=node.container,
        block=node,
        statement_id=statement.id,
        name=statement.name,
        facet=statement.call.target,
        dependencies=[*dict.fromkeys(dependencies(it.run, node, statement.call.refs))],
    )


def _create_yield(it: Iteration, node: StepNode, found: Yield) -> None:
    deps = [*dict.fromkeys(dependencies(it.run, node, found.call.refs))]
    it.create(
        "YieldAssignment",
        container=node.container,
        block=node,
        statement_id=found.id,
        facet=found.call.target,
        dependencies=deps,
    )


def _do_sys(it: Iteration, node: StepNode, sys: Sys) -> None:
    scope = BlockScope(it.run, node)
    try:
        if sys.condition is not None and not holds(sys.condition, scope):
            raise StepError(ASSERT, "sys.assert failed")
        said: dict[str, Any] = {arg.name: evaluate(arg.value, scope) for arg in sys.args}
    except StepError as failure:  # steps in flight are awaited
        node.failed, node.blame = True, failure.info
        return
    node.record.sys.append(sys.id)
    node.left -= 1
    it.record(SysDone(node.id, sys.id, sys.kind, Raw(values.plain(said))))


# -- foreach and when --------------------------------------------------------------------------------------------------


def _foreach(it: Iteration, node: StepNode) -> None:
    plan = node.plan
    assert plan is not None
    assert plan.iterable is not None
    found = evaluate(plan.iterable, BlockScope(it.run, node))
    if found is None:
        return
    if not isinstance(found, list):
        raise StepError(EVALUATION, f"foreach needs a list, got {kind_of(found)}")
    items = cast("list[Any]", found)
    if len(items) > MAX_ELEMENTS:
        raise LimitReached("elements of a foreach", len(items), MAX_ELEMENTS, "foreach elements")
    for place, value in enumerate(items):
        it.create(
            "AndThen",
            container=node.container,
            block=node,
            statement_id=f"foreach-{place}",
            element=Element(plan.variable, place, value),
        )


def _when(it: Iteration, node: StepNode) -> None:
    plan = node.plan
    assert plan is not None
    scope = BlockScope(it.run, node)
    judged: list[Judged] = []
    for place, case in enumerate(plan.cases):
        if case.condition is None:
            continue
        try:
            judged.append(Judged(place, holds(case.condition, scope)))
        except StepError as failure:
            judged.append(Judged(place, False, failure.info.message))
            it.warn(node, f"case {place + 1}: {failure.info.message}")
    none = not any(each.chosen for each in judged)
    judged += [Judged(place, none) for place, case in enumerate(plan.cases) if case.condition is None]
    node.record.cases = judged
    it.record(WhenEvaluated(node.id, judged))
    name = "catch-case" if node.record.object_type == "AndCatch" else "when-case"
    for each in judged:
        if each.chosen:
            it.create("AndThen", container=node.container, block=node, statement_id=f"{name}-{each.index}")


# -- failure -----------------------------------------------------------------------------------------------------------


def _give_up(it: Iteration, node: StepNode) -> None:
    """Creates nothing more, and waits for what is in flight."""
    it.run.abandon(node)
    if node.open == 0:
        it.fail(node, _first_error(it, node))


def _first_error(it: Iteration, node: StepNode) -> ErrorInfo:
    """The first error in source order, so that the outcome does not depend on the order of answers."""
    if node.blame is not None:
        return node.blame
    plan = node.plan
    assert plan is not None
    order = [*(each.id for each in plan.steps), *(each.id for each in plan.yields)]
    inside = [node.members[key] for key in order if key in node.members] if plan.kind == "steps" else node.subs
    cause = cause_among(inside)
    found = None if cause is None else cause.record.error
    return found or error(UPSTREAM, _upstream(it, node))


def _upstream(it: Iteration, node: StepNode) -> str:
    other = it.run.nodes.get(node.upstream)
    name = "a step" if other is None else f"step '{other.record.statement_name}'"
    return f"{name} that it waits for has failed"
