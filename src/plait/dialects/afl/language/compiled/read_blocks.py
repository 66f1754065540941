"""Bodies of a compiled program as syntax trees."""

from __future__ import annotations

from collections.abc import Sequence

from plait.dialects.afl.language.tree import (
    AndThen,
    Block,
    Call,
    Case,
    Catch,
    Constant,
    Foreach,
    InputRef,
    Mixin,
    Name,
    Prompt,
    PromptEntry,
    Script,
    Statement,
    Step,
    StepRef,
    SysAssert,
    SysLog,
    When,
    Yield,
)
from plait.dialects.afl.language.tree_builder import PROMPT_KEYS

from .document import Part
from .read_expressions import arguments, expression


def and_thens(parts: Sequence[Part]) -> tuple[AndThen, ...]:
    return tuple(map(_and_then, parts))


def _and_then(part: Part) -> AndThen:
    part.expect("AndThenBlock")
    foreach = part.optional("foreach")
    return AndThen(*part.span(), _content(part), _foreach(foreach) if foreach is not None else None)


def _foreach(part: Part) -> Foreach:
    iterable = part.part("iterable")
    source = expression(iterable)
    if not isinstance(source, InputRef | StepRef):
        raise iterable.wrong("a reference")
    return Foreach(source.start, source.end, Name(source.start, source.end, part.name("variable").text), source)


def _content(part: Part) -> Block | When | Script:
    inner = part.optional("script")
    if inner is not None:
        return script(inner)
    inner = part.optional("when")
    return _when(inner) if inner is not None else _block(part)


def _when(part: Part) -> When:
    return When(*part.span(), tuple(map(_case, part.parts("cases"))))


def _case(part: Part) -> Case:
    condition = part.optional("condition")
    return Case(*part.span(), expression(condition) if condition is not None else None, _block(part))


def _block(part: Part) -> Block:
    yields = part.parts("yields") if part.has("yields") else part.listed("yield")
    return Block(*part.span(), tuple(map(_statement, part.parts("steps"))), tuple(map(_yield, yields)))


def _statement(part: Part) -> Statement:
    if part.type == "SysStmt":
        if part.text("operation") == "log":
            return SysLog(*part.span(), arguments(part.parts("args")))
        return SysAssert(*part.span(), expression(part.part("condition")))
    part.expect("StepStmt")
    return Step(*part.span(), part.name("name"), call(part.part("call")), and_thens(part.listed("body")), catch(part))


def _yield(part: Part) -> Yield:
    part.expect("YieldStmt")
    return Yield(*part.span(), call(part.part("call")))


def catch(part: Part) -> Catch | None:
    inner = part.optional("catch")
    if inner is None:
        return None
    found = _content(inner)
    if isinstance(found, Script):
        raise inner.wrong("a block or a when")
    return Catch(*inner.span(), found)


def call(part: Part) -> Call:
    part.expect("CallExpr")
    return Call(*part.span(), _target(part), arguments(part.parts("args")), mixins(part))


def mixins(part: Part) -> tuple[Mixin, ...]:
    return tuple(
        Mixin(
            *each.span(),
            _target(each),
            arguments(each.parts("args")),
            each.name("alias") if each.has("alias") else None,
        )
        for each in part.parts("mixins")
    )


def _target(part: Part) -> Name:
    return part.name("target", qualified=True)


def script(part: Part) -> Script:
    part.expect("ScriptBlock")
    start, end = part.span()
    language = part.name("language") if part.has("language") else None
    return Script(start, end, language, part.text("code", ""), True, start)


def prompt(part: Part) -> Prompt:
    start, end = part.span()
    entries = tuple(
        PromptEntry(start, end, Name(start, end, key), Constant(start, end, part.text(key)))
        for key in PROMPT_KEYS
        if part.has(key)
    )
    return Prompt(start, end, entries)
