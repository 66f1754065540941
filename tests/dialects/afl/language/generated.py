"""Programs made from the grammar, with comments and odd spacing between their tokens."""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

NAMES = ["a", "b", "in", "with", "yield", "case", "total", "_x", "sys", "event"]
CALLED = ["F", "G", "ns.F", "Timeout"]
GAPS = ["", " ", "\n", "\n\n", " // note\n", " /* aside */ ", "\n/** star */\n", "\t", "\n    "]

names = st.sampled_from(NAMES)
called = st.sampled_from(CALLED)
types = st.recursive(
    st.sampled_from(["Long", "String", "Json", "ns.S"]), lambda t: t.map(lambda x: f"[ {x} ]"), max_leaves=3
)
strings = st.sampled_from(['""', '"x"', r'"\n\"\\"', '"two\nlines"', r'"\u00e4"', '"// no comment"', '"/* none */"'])


@st.composite
def references(draw: st.DrawFn) -> str:
    path = draw(st.lists(names, min_size=1, max_size=3))
    return ("$ . " if draw(st.booleans()) else "") + " . ".join(path)


literals = st.one_of(
    st.integers(0, 2**63).map(str), st.sampled_from(["1.5", "2.0e-3", "true", "false", "null"]), strings
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    plain = ["||", "&&", "++", "+", "-", "*", "/", "%"]
    compared = ["==", "<", ">=", "in", "not in", "contains", "startsWith"]
    return st.one_of(
        st.tuples(inner, st.sampled_from(plain), inner).map(lambda p: f"( {p[0]} {p[1]} {p[2]} )"),
        st.tuples(inner, st.sampled_from(["+", "++", "-", "*"]), literals).map(lambda p: " ".join(p)),
        st.tuples(inner, st.sampled_from(compared), inner).map(lambda p: f"( ( {p[0]} ) {p[1]} ( {p[2]} ) )"),
        st.tuples(st.sampled_from(["-", "!", "+", "- -", "+ +"]), inner).map(lambda p: f"{p[0]} ( {p[1]} )"),
        st.lists(inner, max_size=3).map(lambda p: f"[ {' , '.join(p)} ]"),
        st.lists(st.tuples(st.one_of(names, strings), inner), max_size=2).map(
            lambda p: f"#{{ {' , '.join(f'{key} : {value}' for key, value in p)} }}"
        ),
        st.tuples(references(), inner).map(lambda p: f"{p[0]} [ {p[1]} ] . a"),
        inner.map(lambda p: f"( {p} ) . b"),
    )


expressions = st.recursive(st.one_of(literals, references()), _larger, max_leaves=6)


@st.composite
def arguments(draw: st.DrawFn) -> str:
    found = draw(st.lists(st.tuples(names, expressions), max_size=3))
    return f"( {' , '.join(f'{name} = {value}' for name, value in found)} )"


@st.composite
def mixins(draw: st.DrawFn) -> str:
    found: list[str] = []
    for _ in range(draw(st.integers(0, 2))):
        alias = f" as {draw(names)}" if draw(st.booleans()) else ""
        found.append(f"with {draw(called)} {draw(arguments())}{alias}")
    return " ".join(found)


@st.composite
def calls(draw: st.DrawFn) -> str:
    return f"{draw(called)} {draw(arguments())} {draw(mixins())}"


scripts = st.sampled_from(
    [
        'script "x = 1"',
        "script { x = 1 }",
        'script python {\n      d = {"}": 1}  # }\n\n        if d:\n  y = 2\n }',
        "script {\nx\n\n}",
    ]
)


@st.composite
def blocks(draw: st.DrawFn, depth: int) -> str:
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["step", "step", "log", "assert"]))
        match kind:
            case "step":
                part = f"{draw(names)} = {draw(calls())} {draw(bodies(depth - 1))}"
            case "log":
                part = f"sys . log {draw(arguments())}"
            case _:
                part = f"sys . assert ( {draw(expressions)} )"
        parts.append(part + draw(st.sampled_from(["", " ;"])))
    for _ in range(draw(st.integers(0, 2))):
        more = f" with {draw(called)} {draw(arguments())}" if draw(st.booleans()) else ""
        parts.append(f"yield {draw(called)} {draw(arguments())}{more}" + draw(st.sampled_from(["", " ;"])))
    return "{ " + " ".join(parts) + " }"


@st.composite
def whens(draw: st.DrawFn, depth: int) -> str:
    cases = [f"case {draw(expressions)} => {draw(blocks(depth))}" for _ in range(draw(st.integers(0, 2)))]
    return f"when {{ {' '.join([*cases, f'case _ => {draw(blocks(depth))}'])} }}"


@st.composite
def bodies(draw: st.DrawFn, depth: int) -> str:
    if depth <= 0:
        return ""
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 2))):
        match draw(st.sampled_from(["plain", "foreach", "when", "script"])):
            case "plain":
                parts.append(f"andThen {draw(blocks(depth))}")
            case "foreach":
                parts.append(f"andThen foreach {draw(names)} in {draw(references())} {draw(blocks(depth))}")
            case "when":
                parts.append(f"andThen {draw(whens(depth))}")
            case _:
                parts.append(f"andThen {draw(scripts)}")
    if draw(st.booleans()):
        parts.append(f"catch {draw(st.one_of(blocks(depth), whens(depth)))}")
    return " ".join(parts)


@st.composite
def parameters(draw: st.DrawFn) -> str:
    found = draw(st.lists(st.tuples(names, types, st.one_of(st.none(), expressions)), max_size=3))
    return f"( {' , '.join(f'{n} : {t}' + (f' = {d}' if d is not None else '') for n, t, d in found)} )"


@st.composite
def declarations(draw: st.DrawFn) -> str:
    match draw(st.sampled_from(["facet", "event facet", "workflow", "schema", "implicit"])):
        case "schema":
            fields = draw(st.lists(st.tuples(names, types), max_size=3))
            separator = draw(st.sampled_from([" ", " , "]))
            return f"schema S {{ {separator.join(f'{name} : {type}' for name, type in fields)} }}"
        case "implicit":
            return f"implicit {draw(names)} = {draw(calls())}"
        case word:
            returns = f"=> {draw(parameters())}" if draw(st.booleans()) else ""
            head = f"{word} {draw(st.sampled_from(['F', 'G', 'H']))} {draw(parameters())} {returns} {draw(mixins())}"
            tail = draw(
                st.one_of(
                    bodies(2),
                    st.tuples(scripts, bodies(1)).map(" ".join),
                    strings.map(lambda text: f"prompt {{ template {text} system {text} }}"),
                )
            )
            doc = draw(st.sampled_from(["", "/** It does.\n * @param a what\n */ "]))
            return f"{doc}{head} {tail}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Text that parses; what it means is another matter."""
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 3))):
        inner = draw(st.lists(declarations(), max_size=2))
        if draw(st.booleans()):
            use = "use other.ns " if draw(st.booleans()) else ""
            parts.append(f"namespace ns {{ {use}{' '.join(inner)} }}")
        else:
            parts.extend(inner)
    return spaced(draw, " ".join(parts))


def spaced(draw: st.DrawFn, text: str) -> str:
    """With something else between some tokens; never inside of strings and scripts, whose spaces are their own."""
    pieces: list[str] = []
    rest = text
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, max(len(rest) - 1, 0)))
        at = rest.find(" = ", at)
        if at < 0:
            break
        pieces.append(rest[: at + 2])
        pieces.append(cast("str", draw(st.sampled_from([gap for gap in GAPS if gap]))))
        rest = rest[at + 3 :]
    return "".join(pieces) + rest
