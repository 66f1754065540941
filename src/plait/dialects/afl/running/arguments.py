"""The params of a step: its arguments, what mixins and implicits add, and the defaults of its facet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.dialects.afl.program.parts import Arg, Declaration, Mixin
from plait.kernel import values

from .afl_run import AflRun
from .evaluation import evaluate
from .failures import TYPE, StepError
from .iteration import Iteration
from .nodes import StepNode
from .scope import BlockScope, OwnScope, Scope
from .types import misfit

Values = dict[str, Any]


def evaluated(args: tuple[Arg, ...], scope: Scope) -> Values:
    return {arg.name: evaluate(arg.value, scope) for arg in args}


def initialize(it: Iteration, node: StepNode) -> None:
    """Evaluates all expressions of a step into its params; for a schema, into its returns."""
    match node.record.object_type:
        case "Workflow":
            _root(it, node)
        case "SchemaInstantiation":
            assert node.call is not None
            given = evaluated(node.call.args, scope_of(it.run, node))
            it.set_returns(node, given)
            _check(it, node, given, node.declaration)
        case "YieldAssignment":
            assert node.call is not None
            it.set_params(node, evaluated(node.call.args, scope_of(it.run, node)))
        case "Facet":
            _mixin(it, node)
        case _:
            _step(it, node)


def scope_of(run: AflRun, node: StepNode) -> Scope:
    """The scope of the block that contains a statement."""
    assert node.block is not None
    return BlockScope(run, node.block)


def _root(it: Iteration, node: StepNode) -> None:
    declaration = node.declaration
    assert declaration is not None
    given: Values = values.decode(it.run.state.input) or {}
    known = {param.name for param in declaration.params}
    for name in given:
        if name not in known:
            it.warn(node, f"Input '{name}' is not a parameter of {declaration.name}: ignored")
    own = {name: value for name, value in given.items() if name in known}
    it.set_params(node, _filled(it, node, declaration, own, ()))


def _mixin(it: Iteration, node: StepNode) -> None:
    declaration, owner = node.declaration, node.container
    assert declaration is not None
    assert owner is not None
    mixin, signature = mixins_of(owner)[node.place]
    given = mixin_args(it.run, owner, mixin, signature=signature)
    it.set_params(node, _filled(it, node, declaration, given, mixin.implicits))


def _step(it: Iteration, node: StepNode) -> None:
    declaration, call = node.declaration, node.call
    assert declaration is not None
    assert call is not None
    it.set_params(node, _filled(it, node, declaration, evaluated(call.args, scope_of(it.run, node)), call.implicits))


def _filled(
    it: Iteration, node: StepNode, declaration: Declaration, given: Values, implicits: tuple[Arg, ...]
) -> Values:
    """Precedence: argument, unaliased mixin argument, implicit, default."""
    scope = None if node.block is None else BlockScope(it.run, node.block)
    flat, aliased = ({}, {}) if node.call is None or scope is None else _mixed(node.call.mixins, scope)
    found = _with_defaults(declaration, {**flat, **given}, implicits)
    if declaration.mixins:
        signature_flat, signature_aliased = _mixed(declaration.mixins, OwnScope(found))
        found = _with_defaults(declaration, {**signature_flat, **flat, **given}, implicits)
        aliased = {**signature_aliased, **aliased}
    _check(it, node, given, declaration)
    return {**found, **aliased}


def _mixed(mixins: tuple[Mixin, ...], scope: Scope) -> tuple[Values, Values]:
    flat: Values = {}
    aliased: Values = {}
    for mixin in mixins:
        found = evaluated(mixin.args, scope)
        if mixin.alias:
            aliased[mixin.alias] = found
        else:
            flat.update(found)
    return flat, aliased


def _with_defaults(declaration: Declaration, given: Values, implicits: tuple[Arg, ...]) -> Values:
    found = dict(given)
    for arg in implicits:
        if arg.name not in found:
            found[arg.name] = evaluate(arg.value, OwnScope(found))
    return with_defaults(declaration.params, found)


def with_defaults(params: tuple[Any, ...], given: Values) -> Values:
    found = dict(given)
    for param in params:
        if param.name not in found and param.default is not None:
            found[param.name] = evaluate(param.default, OwnScope(found))
    return found


# -- mixins ------------------------------------------------------------------------------------------------------------


def mixins_of(node: StepNode) -> list[tuple[Mixin, bool]]:
    """Mixins of the signature, then those of the call; and whether each is of the signature."""
    signature = () if node.declaration is None else node.declaration.mixins
    written = () if node.call is None else node.call.mixins
    return [*((each, True) for each in signature), *((each, False) for each in written)]


def mixin_args(run: AflRun, owner: StepNode, mixin: Mixin, *, signature: bool) -> Values:
    return evaluated(mixin.args, _mixin_scope(run, owner, signature=signature))


def _mixin_scope(run: AflRun, owner: StepNode, *, signature: bool) -> Scope:
    if signature or owner.block is None:
        return OwnScope(owner.record.params)
    return BlockScope(run, owner.block)


# -- types -------------------------------------------------------------------------------------------------------------


def _check(it: Iteration, node: StepNode, given: Mapping[str, Any], declaration: Declaration | None) -> None:
    if declaration is not None:
        check_types(it, node, given, declaration.params, "argument")


def check_types(it: Iteration, node: StepNode, given: Mapping[str, Any], params: tuple[Any, ...], what: str) -> None:
    """A wrong type is a warning; with `strict`, an error."""
    for param in params:
        if param.name in given and (text := misfit(given[param.name], param.type, it.run.program)):
            said = f"{what} '{param.name}' of {node.record.facet_name or node.record.statement_name}: {text}"
            if it.run.state.start.strict:
                raise StepError(TYPE, said)
            it.warn(node, said)
