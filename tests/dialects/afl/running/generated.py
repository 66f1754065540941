"""Programs that are valid by construction, as source: references in any order, bodies, loops, cases, catches."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

_HEAD = """
namespace g {
    schema Pair { v: Long }
    facet Value(v: Long)
    event facet Ask(v: Long) => (n: Long)
    facet Inner(v: Long) => (n: Long) andThen { q = Ask(v = $.v) w = Value(v = q.n) yield Inner(n = w.v) }
    facet Mark(v: Long) => (m: Long) andThen { q = Ask(v = $.v) yield Mark(m = q.n) }
"""


@dataclass(frozen=True)
class Generated:
    source: str
    text: str
    """Of the workflow alone, for people."""


@st.composite
def blocks(draw: st.DrawFn, depth: int, outer: tuple[str, ...] = (), *, yields: bool = True) -> str:
    count = draw(st.integers(0 if depth else 1, 4))
    places = draw(st.permutations(range(count)))
    names = [f"{'abcde'[depth]}{place}" for place in range(count)]
    lines: list[str] = [""] * count
    for rank, place in enumerate(places):
        earlier = [names[each] for each in places[:rank]]  # by rank, not by place: some are written later
        lines[place] = draw(statements(names[place], (*earlier, *outer), depth))
    ends = [f"yield W(o{depth} = {draw(terms(tuple(names)))})"] if yields and names and draw(st.booleans()) else []
    return " ".join([*lines, *ends])


@st.composite
def terms(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    found = [str(draw(st.integers(0, 9)))]
    found += [f"{name}.v" for name in draw(st.lists(st.sampled_from(names), max_size=2))] if names else []
    return " + ".join(found)


@st.composite
def statements(draw: st.DrawFn, name: str, names: tuple[str, ...], depth: int) -> str:
    facet = draw(st.sampled_from(("Value", "Value", "Ask", "Ask", "Inner", "Pair")))
    mixin = " with Mark(v = 1) as mark" if facet == "Ask" and draw(st.integers(0, 5)) == 0 else ""
    text = f"{name} = {facet}(v = {draw(terms(names))}){mixin}"
    if facet != "Pair" and depth < 2 and draw(st.integers(0, 3)) == 0:
        text += f" andThen {{ {draw(blocks(depth + 1, names))} }}"
    if facet in ("Ask", "Inner") and draw(st.integers(0, 3)) == 0:
        text += f" catch {{ {draw(blocks(3))} }}"
    return text


@st.composite
def programs(draw: st.DrawFn) -> Generated:
    bodies = [f"andThen {{ {draw(blocks(0))} }}" for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        bodies.append(
            f"andThen foreach i in $.items {{ z = Ask(v = i) {draw(blocks(1, yields=False))} yield W(all = [z.v]) }}"
        )
    if draw(st.booleans()):
        bodies.append(f"andThen when {{ case $.go => {{ {draw(blocks(1))} }} case _ => {{ {draw(blocks(2))} }} }}")
    returns = ", ".join(f"o{depth}: Long" for depth in range(4))
    text = f"workflow W(items: [Long], go: Boolean) => ({returns}, all: [Long]) {' '.join(bodies)}"
    return Generated(f"{_HEAD} {text} }}", text)
