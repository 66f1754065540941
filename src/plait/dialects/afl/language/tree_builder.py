"""Builds the syntax tree during parsing: one method for each rule of the grammar, given its parts."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from .doc_comment import read_doc
from .nesting import check_depth
from .operators import fold
from .raw_script import code_between
from .string_literal import string_value
from .syntax_error import AflSyntaxError
from .tokens import Comment, Token
from .tree import (
    AndThen,
    Argument,
    Block,
    Call,
    Case,
    Catch,
    Constant,
    Doc,
    Entry,
    Expression,
    Facet,
    FacetKind,
    File,
    Foreach,
    Group,
    Implicit,
    Index,
    InputRef,
    ListLiteral,
    ListType,
    MapLiteral,
    Member,
    Mixin,
    Name,
    Namespace,
    Parameter,
    Prompt,
    PromptEntry,
    Schema,
    Script,
    Step,
    StepRef,
    SysAssert,
    SysLog,
    TypeName,
    Unary,
    Use,
    When,
    Yield,
)

Parts = list[Any]
"""The parts of a rule: tokens and results of other methods. The grammar determines which, so nothing is checked."""

PROMPT_KEYS = ("system", "template", "model")
MAX_INT = 2**63
_MAX_DIGITS = 19


class TreeBuilder:
    """Stateless: one instance serves all parsers. The parser attaches doc comments, since it knows the comments."""

    def start(self, parts: Parts) -> File:
        members = parts[0]
        return File(members[0].start if members else 0, members[-1].end if members else 0, tuple(members))

    # Lists

    def empty_list(self, parts: Parts) -> Parts:
        return []

    def only(self, parts: Parts) -> Any:
        return parts[0]

    def one(self, parts: Parts) -> Parts:
        return parts

    def append(self, parts: Parts) -> Parts:
        parts[0].append(parts[1])
        return parts[0]

    def append_after(self, parts: Parts) -> Parts:
        parts[0].append(parts[2])
        return parts[0]

    def extend(self, parts: Parts) -> Parts:
        parts[0].extend(parts[1])
        return parts[0]

    def nothing(self, parts: Parts) -> None:
        return None

    # Declarations

    def namespace(self, parts: Parts) -> Namespace:
        return Namespace(parts[0].start, parts[4].end, parts[1], tuple(parts[3]), None)

    def use(self, parts: Parts) -> Use:
        return Use(parts[0].start, parts[1].end, parts[1])

    def facet(self, parts: Parts) -> Facet:
        return _facet("facet", parts[0], parts[1])

    def event_facet(self, parts: Parts) -> Facet:
        return _facet("event", parts[0], parts[2])

    def workflow(self, parts: Parts) -> Facet:
        return _facet("workflow", parts[0], parts[1])

    def schema(self, parts: Parts) -> Schema:
        return Schema(parts[0].start, parts[4].end, _name(parts[1]), tuple(parts[3]), None)

    def implicit(self, parts: Parts) -> Implicit:
        return Implicit(parts[0].start, parts[3].end, _name(parts[1]), parts[3])

    def head(self, parts: Parts) -> Parts:
        return parts

    def returns(self, parts: Parts) -> Parts:
        return [*parts[2], parts[3]]

    def parameter(self, parts: Parts) -> Parameter:
        default = parts[4] if len(parts) == 5 else None
        return Parameter(parts[0].start, parts[-1].end, _name(parts[0]), parts[2], default)

    def list_type(self, parts: Parts) -> ListType:
        return ListType(parts[0].start, parts[2].end, parts[1])

    def type_name(self, parts: Parts) -> TypeName:
        return TypeName(parts[0].start, parts[0].end, parts[0].text)

    def tail(self, parts: Parts) -> tuple[Any, ...]:
        return None, None, parts[0]

    def tail_script(self, parts: Parts) -> tuple[Any, ...]:
        return parts[0], None, parts[1]

    def tail_prompt(self, parts: Parts) -> tuple[Any, ...]:
        return None, Prompt(parts[0].start, parts[3].end, tuple(parts[2])), []

    def prompt_entry(self, parts: Parts) -> Parts:
        entries, key, text = parts
        if key.value not in PROMPT_KEYS:
            raise AflSyntaxError(key.span, f"Unexpected '{key.value}', expected system, template or model")
        entries.append(PromptEntry(key.start, text.end, _name(key), self.string_literal([text])))
        return entries

    # Blocks

    def and_then(self, parts: Parts) -> AndThen:
        return AndThen(parts[0].start, parts[1].end, parts[1], None)

    def and_then_foreach(self, parts: Parts) -> AndThen:
        foreach = Foreach(parts[1].start, parts[4].end, _name(parts[2]), parts[4])
        return AndThen(parts[0].start, parts[5].end, parts[5], foreach)

    def script(self, parts: Parts) -> Script:
        text: Token = parts[-1]
        language = _name(parts[1]) if len(parts) == 3 else None
        braces = text.type == "RAW"
        code = code_between(text.value[1:-1]) if braces else string_value(text.value, text.start)
        return Script(parts[0].start, text.end, language, code, braces, text.start)

    def when(self, parts: Parts) -> When:
        return When(parts[0].start, parts[3].end, tuple(parts[2]))

    def default_case(self, parts: Parts) -> Case:
        return Case(parts[0].start, parts[3].end, None, parts[3])

    def case(self, parts: Parts) -> Case:
        return Case(parts[0].start, parts[3].end, parts[1], parts[3])

    def no_catch(self, parts: Parts) -> None:
        return None

    def catch(self, parts: Parts) -> Catch:
        return Catch(parts[0].start, parts[1].end, parts[1])

    def block(self, parts: Parts) -> Block:
        return Block(parts[0].start, parts[3].end, tuple(parts[1]), tuple(parts[2]))

    def step(self, parts: Parts) -> Step:
        name, _, call, bodies, catch = parts
        if name.value in ("true", "false", "null"):
            raise AflSyntaxError(name.span, f"'{name.value}' cannot name a step", "rename it")
        end = catch.end if catch is not None else bodies[-1].end if bodies else call.end
        return Step(name.start, end, _name(name), call, tuple(bodies), catch)

    def yield_statement(self, parts: Parts) -> list[Yield]:
        """Each further `with` is another yield."""
        word, call = parts
        first = Call(call.start, call.mixins[0].start if call.mixins else call.end, call.target, call.arguments, ())
        found = [Yield(word.start, call.end if not call.mixins else first.end, first)]
        for mixin in call.mixins:
            if mixin.alias is not None:
                raise AflSyntaxError(mixin.alias.span, "A yield has no alias", "write the alias as its target")
            more = Call(mixin.target.start, mixin.end, mixin.target, mixin.arguments, ())
            found.append(Yield(mixin.start, mixin.end, more))
        return found

    def sys_arguments(self, parts: Parts) -> SysLog:
        word, _, operation, _, arguments, closing = parts
        if operation.value == "assert":
            raise AflSyntaxError(operation.span, "sys.assert needs one condition", "as in sys.assert(total > 0)")
        _check_sys(operation)
        return SysLog(word.start, closing.end, tuple(arguments))

    def sys_expression(self, parts: Parts) -> SysAssert:
        word, _, operation, _, condition, closing = parts
        if operation.value == "log":
            raise AflSyntaxError(condition.span, "sys.log needs names", "as in sys.log(total = order.total)")
        _check_sys(operation)
        return SysAssert(word.start, closing.end, condition)

    # Calls

    def call(self, parts: Parts) -> Call:
        target, _, arguments, closing, mixins = parts
        end = mixins[-1].end if mixins else closing.end
        return Call(target.start, end, target, tuple(arguments), tuple(mixins))

    def mixin(self, parts: Parts) -> Mixin:
        alias = _name(parts[6]) if len(parts) == 7 else None
        return Mixin(parts[0].start, parts[-1].end, parts[1], tuple(parts[3]), alias)

    def argument(self, parts: Parts) -> Argument:
        return Argument(parts[0].start, parts[2].end, _name(parts[0]), parts[2])

    # Names and references

    def one_name(self, parts: Parts) -> Name:
        return _name(parts[0])

    def longer_name(self, parts: Parts) -> Name:
        before, _, name = parts
        return Name(before.start, name.end, f"{before.text}.{name.value}")

    def step_reference(self, parts: Parts) -> StepRef:
        return StepRef(parts[0].start, parts[0].end, _path(parts[0]))

    def input_reference(self, parts: Parts) -> InputRef:
        return InputRef(parts[0].start, parts[2].end, _path(parts[2]))

    # Expressions

    def expression(self, parts: Parts) -> Expression:
        chain = parts[0]
        expression = chain[0] if len(chain) == 1 else fold(chain)
        check_depth(expression)
        return expression

    def chain(self, parts: Parts) -> Parts:
        chain = parts[0]
        chain.append(parts[1])
        chain.append(parts[2])
        return chain

    def chain_not_in(self, parts: Parts) -> Parts:
        chain, first, second, operand = parts
        chain.append(Token("OPERATOR", "not in", first.start, second.end))
        chain.append(operand)
        return chain

    def unary(self, parts: Parts) -> Unary:
        return Unary(parts[0].start, parts[1].end, parts[0].value, parts[1])

    def step_root(self, parts: Parts) -> StepRef:
        name: Token = parts[0]
        return StepRef(name.start, name.end, (_name(name),))

    def input_root(self, parts: Parts) -> InputRef:
        return InputRef(parts[0].start, parts[2].end, (_name(parts[2]),))

    def member(self, parts: Parts) -> Expression:
        target, _, name = parts
        if isinstance(target, StepRef | InputRef):
            return type(target)(target.start, name.end, (*target.path, _name(name)))
        return Member(target.start, name.end, target, _name(name))

    def index(self, parts: Parts) -> Index:
        return Index(parts[0].start, parts[3].end, parts[0], parts[2])

    def group(self, parts: Parts) -> Group:
        return Group(parts[0].start, parts[2].end, parts[1])

    def int_literal(self, parts: Parts) -> Constant:
        token: Token = parts[0]
        digits = token.value.lstrip("0")
        if len(digits) > _MAX_DIGITS or int(digits or "0") > MAX_INT:
            raise AflSyntaxError(token.span, "This integer has more than 64 bits", "write it with '.0' as a Double")
        return Constant(token.start, token.end, int(digits or "0"))

    def double_literal(self, parts: Parts) -> Constant:
        token: Token = parts[0]
        value = float(token.value)
        if math.isinf(value):
            raise AflSyntaxError(token.span, "This number is too large for a Double")
        return Constant(token.start, token.end, value)

    def string_literal(self, parts: Parts) -> Constant:
        token: Token = parts[0]
        return Constant(token.start, token.end, string_value(token.value, token.start))

    def word_literal(self, parts: Parts) -> Constant:
        token: Token = parts[0]
        return Constant(token.start, token.end, None if token.value == "null" else token.value == "true")

    def empty_list_literal(self, parts: Parts) -> ListLiteral:
        return ListLiteral(parts[0].start, parts[1].end, ())

    def list_literal(self, parts: Parts) -> ListLiteral:
        return ListLiteral(parts[0].start, parts[2].end, tuple(parts[1]))

    def empty_map_literal(self, parts: Parts) -> MapLiteral:
        return MapLiteral(parts[0].start, parts[1].end, ())

    def map_literal(self, parts: Parts) -> MapLiteral:
        return MapLiteral(parts[0].start, parts[2].end, tuple(parts[1]))

    def entry(self, parts: Parts) -> Entry:
        key: Token = parts[0]
        quoted = key.type == "STRING"
        text = string_value(key.value, key.start) if quoted else key.value
        return Entry(key.start, parts[2].end, text, quoted, parts[2])


def documented(file: File, docs: dict[int, Comment]) -> File:
    """Attaches doc comments, by the offset of what each describes."""
    if not docs:
        return file
    return msgspec.structs.replace(file, members=tuple(_with_docs(each, docs) for each in file.members))


def _with_docs(member: Any, docs: dict[int, Comment]) -> Any:
    match member:
        case Namespace():
            inner = tuple(_with_docs(each, docs) for each in member.members)
            return msgspec.structs.replace(member, members=inner, doc=_doc(member.start, docs))
        case Facet() | Schema() if member.start in docs:
            return msgspec.structs.replace(member, doc=_doc(member.start, docs))
        case _:
            return member


def _doc(start: int, docs: dict[int, Comment]) -> Doc | None:
    found = docs.get(start)
    return read_doc(found) if found is not None else None


def _facet(kind: FacetKind, word: Token, head: Parts) -> Facet:
    name, _, parameters, closing, returns, mixins, (script, prompt, bodies), catch = head
    if returns:
        *returns, closing = returns
    last = next(
        (each for each in (catch, bodies[-1] if bodies else None, prompt, script) if each is not None),
        mixins[-1] if mixins else closing,
    )
    return Facet(
        word.start,
        last.end,
        kind,
        _name(name),
        tuple(parameters),
        tuple(returns),
        tuple(mixins),
        script,
        prompt,
        tuple(bodies),
        catch,
        None,
    )


def _name(token: Token) -> Name:
    return Name(token.start, token.end, token.value)


def _path(name: Name) -> tuple[Name, ...]:
    """The parts of a qualified name; if it contains white space, only the offsets of its ends are exact."""
    parts = name.text.split(".")
    if len(parts) == 1:
        return (name,)
    found: list[Name] = []
    at = name.start
    for part in parts:
        found.append(Name(at, at + len(part), part))
        at += len(part) + 1
    return tuple(found)


def _check_sys(operation: Token) -> None:
    if operation.value not in ("log", "assert"):
        raise AflSyntaxError(operation.span, f"Unexpected 'sys.{operation.value}', expected sys.log or sys.assert")
