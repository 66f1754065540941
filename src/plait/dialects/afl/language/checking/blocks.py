"""Bodies: blocks of steps and yields, foreach, when, catch, scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.dialects.afl.language.limits import LIMIT_EXCEEDED, MAX_BLOCK_NESTING
from plait.dialects.afl.language.links import StepInfo
from plait.dialects.afl.language.scopes import Inputs, Owner, Scope, with_error
from plait.dialects.afl.language.static_types import BOOLEAN, NULL, Instance, ListOf, StaticType, shown
from plait.dialects.afl.language.symbols import Symbol
from plait.dialects.afl.language.tree import (
    AndThen,
    Block,
    Case,
    Catch,
    Foreach,
    InputRef,
    Mixin,
    Name,
    Script,
    Step,
    StepRef,
    SysAssert,
    SysLog,
    When,
)

from .calls import check_arguments, check_call
from .check import Check
from .expressions import infer
from .references import attributes, check_input, check_step
from .yields import check_yields

LANGUAGES = ("python",)


def check_bodies(
    check: Check, bodies: Sequence[AndThen], catch: Catch | None, outer: Scope, path: str, depth: int
) -> None:
    """`outer` is the scope around the bodies, with their owner; `path` is the owner's location."""
    tables = [_steps(check, each.body, f"{path}/body/{at}") for at, each in enumerate(bodies)]
    for at, body in enumerate(bodies):
        _check_body(check, body, outer, f"{path}/body/{at}", tables, at, depth)
    if catch is None:
        return
    inputs = with_error(outer.inputs)
    where = f"{path}/catch"
    if isinstance(catch.body, When):
        scope = Scope(outer.owner, outer.parent, inputs, siblings=_filled(tables[::-1]))
        _check_when(check, catch.body, scope, where, depth)
    else:
        steps = _steps(check, catch.body, where)
        scope = Scope(outer.owner, outer.parent, inputs, steps, hidden=_filled(tables))
        check_block(check, catch.body, scope, where, depth)


def _check_body(
    check: Check,
    body: AndThen,
    outer: Scope,
    path: str,
    tables: Sequence[Mapping[str, StepInfo]],
    at: int,
    depth: int,
) -> None:
    others = _filled([*tables[:at], *tables[at + 1 :]])
    match body.body:
        case Script():
            check_script(check, body.body)
        case When():
            siblings, later = _filled(tables[:at][::-1]), _filled(tables[at + 1 :])
            scope = Scope(outer.owner, outer.parent, outer.inputs, siblings=siblings, hidden=later)
            _check_when(check, body.body, scope, path, depth)
        case Block() if body.foreach is not None:
            element = _check_source(check, body.foreach, Scope(outer.owner, outer.parent, outer.inputs, hidden=others))
            name = body.foreach.variable
            inputs = Inputs({**outer.inputs.types, name.text: element}, outer.inputs.open)
            scope = Scope(outer.owner, outer.parent, inputs, tables[at], name, element, hidden=others)
            check_block(check, body.body, scope, path, depth)
        case Block():
            scope = Scope(outer.owner, outer.parent, outer.inputs, tables[at], hidden=others)
            check_block(check, body.body, scope, path, depth)


def check_block(check: Check, block: Block, scope: Scope, path: str, depth: int) -> None:
    if depth > MAX_BLOCK_NESTING:
        check.error(
            block,
            LIMIT_EXCEEDED,
            f"Blocks are nested deeper than {MAX_BLOCK_NESTING} levels",
            "move the inner ones into a facet",
        )
        return
    _note_duplicates(check, block)
    for statement in block.statements:
        check.waiting = statement
        match statement:
            case SysLog():
                check_arguments(check, statement.arguments, scope)
            case SysAssert():
                _check_assert(check, statement, scope)
            case Step():
                _check_step(check, statement, scope, path, depth)
    check_yields(check, block.yields, scope)
    check.waiting = None


def _check_step(check: Check, step: Step, scope: Scope, path: str, depth: int) -> None:
    symbol = check_call(check, step.call, scope)
    if not step.bodies and step.catch is None:
        return
    info = scope.steps.get(step.name.text)
    if info is None or info.step is not step:  # the second of two with the same name
        info = StepInfo(step, f"{path}/{step.name.text}", symbol)
    mixins = [(each, check.links.symbol(each)) for each in _all_mixins(symbol, step)]
    owner = Owner(symbol, mixins, info)
    inner = Scope(owner, scope, _inputs(check, step, symbol, scope))
    check_bodies(check, step.bodies, step.catch, inner, info.path, depth + 1)


def _all_mixins(symbol: Symbol | None, step: Step) -> tuple[Mixin, ...]:
    declared = symbol.facet.mixins if symbol is not None and symbol.facet is not None else ()
    return (*declared, *step.call.mixins)


def _inputs(check: Check, step: Step, symbol: Symbol | None, scope: Scope) -> Inputs:
    """The inputs in the body of a step: an event's own values come after those around it."""
    outer = scope.inputs
    if symbol is None:
        return Inputs(outer.types, True)
    facet = symbol.facet
    own: dict[str, StaticType] = dict.fromkeys(attributes(check, symbol, step.call.mixins, False))
    own |= {name: check.type_of(symbol, each.type) for name, each in symbol.parameters.items()}
    if facet is None or facet.kind != "event":
        for name in symbol.returns:
            if name not in symbol.parameters:
                own.pop(name, None)
        return Inputs({**outer.types, **own}, outer.open or (facet is not None and facet.script is not None))
    own |= {
        name: check.type_of(symbol, each.type) for name, each in symbol.returns.items() if name not in symbol.parameters
    }
    return Inputs({**own, **outer.types}, outer.open or not facet.returns or facet.script is not None)


def _check_source(check: Check, foreach: Foreach, scope: Scope) -> StaticType:
    """The type of the source's elements."""
    check.waiting = foreach
    match foreach.source:
        case InputRef():
            type = check_input(check, foreach.source, scope, lenient=True)
        case StepRef():
            type = check_step(check, foreach.source, scope)
    if isinstance(type, ListOf):
        return type.element
    if type is not None and type != NULL and not isinstance(type, Instance):
        check.warning(
            foreach.source, "TYPE_ARGUMENT", f"foreach needs a list, got {shown(type)}", "declare it as a list: [Type]"
        )
    return None


def _check_when(check: Check, when: When, scope: Scope, path: str, depth: int) -> None:
    _check_cases(check, when)
    for at, case in enumerate(when.cases):
        check.waiting = when
        if case.condition is not None:
            _check_condition(check, case, scope)
        where = f"{path}/case/{at}"
        steps = _steps(check, case.block, where)
        inner = Scope(
            scope.owner,
            scope.parent,
            scope.inputs,
            steps,
            siblings=scope.siblings,
            hidden=scope.hidden,
        )
        check_block(check, case.block, inner, where, depth)


def _check_cases(check: Check, when: When) -> None:
    if not when.cases:
        check.error(when, "WHEN_NO_CASES", "This 'when' has no cases", "add `case _ => { }`")
        return
    defaults = [each for each in when.cases if each.condition is None]
    if not defaults:
        check.error(when, "WHEN_MISSING_DEFAULT", "This 'when' has no default", "add `case _ =>` as the last case")
        return
    for each in defaults[1:]:
        check.error(each, "WHEN_MULTIPLE_DEFAULTS", "This 'when' has several defaults", "keep the last `case _ =>`")
    if when.cases[-1].condition is not None:
        check.error(
            defaults[0], "WHEN_DEFAULT_NOT_LAST", "The default is not the last case", "move `case _ =>` to the end"
        )


def _check_condition(check: Check, case: Case, scope: Scope) -> None:
    if case.condition is None:
        return
    type = infer(check, case.condition, scope)
    if type not in (None, BOOLEAN, NULL):
        check.error(
            case.condition,
            "WHEN_CONDITION_NOT_BOOLEAN",
            f"A case needs Boolean, got {shown(type)}",
            "compare it with something",
        )


def _check_assert(check: Check, statement: SysAssert, scope: Scope) -> None:
    type = infer(check, statement.condition, scope)
    if type not in (None, BOOLEAN, NULL):
        check.error(
            statement.condition,
            "SYS_ASSERT_NOT_BOOLEAN",
            f"sys.assert needs Boolean, got {shown(type)}",
            "compare it with something",
        )


def check_script(check: Check, script: Script) -> None:
    if script.language is not None and script.language.text not in LANGUAGES:
        check.error(
            script.language,
            "SCRIPT_UNSUPPORTED_LANGUAGE",
            f"Scripts in '{script.language.text}' are not supported",
            "use python",
        )
    if not script.code.strip():
        check.error(script, "SCRIPT_EMPTY", "This script is empty", "write its code, or remove it")


def _steps(check: Check, body: Block | When | Script, path: str) -> dict[str, StepInfo]:
    """The steps of a plain or foreach block, visible to all its statements; the first of a name counts."""
    found: dict[str, StepInfo] = {}
    if isinstance(body, Block):
        for each in body.statements:
            if isinstance(each, Step) and each.name.text not in found:
                symbol = check.symbols.find(each.call.target.text, check.space).symbol
                info = StepInfo(each, f"{path}/{each.name.text}", symbol)
                found[each.name.text] = check.links.steps[id(each)] = info
    return found


def _filled(tables: Sequence[Mapping[str, StepInfo]]) -> list[Mapping[str, StepInfo]]:
    return [each for each in tables if each]


def _note_duplicates(check: Check, block: Block) -> None:
    seen: dict[str, Name] = {}
    for each in block.statements:
        if not isinstance(each, Step):
            continue
        name = each.name
        first = seen.setdefault(name.text, name)
        if first is not name:
            line = check.space.source.place(first.start).line
            check.error(
                name, "DUPLICATE_STEP_NAME", f"Duplicate step name '{name.text}' (first at line {line})", "rename one"
            )
