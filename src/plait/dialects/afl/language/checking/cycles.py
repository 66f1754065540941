"""Cycles: steps that wait for each other, and declarations that call themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plait.dialects.afl.language.links import Links, StepInfo
from plait.dialects.afl.language.tree import AndThen, Block, Catch, Node, Step, When

from .check import Check


def check_step_cycles(check: Check, bodies: Sequence[AndThen], catch: Catch | None) -> None:
    """A step waits for the steps it reads, and ends after all steps in its bodies, which wait in turn."""
    graph: dict[int, list[int]] = {}
    steps: dict[int, StepInfo] = {}
    for node in _bodies(bodies, catch):
        _add(check.links, node, graph, steps, None)
    for circle in _circles(graph):
        names = [steps[each].step.name for each in circle]
        shown = " → ".join(name.text for name in (*names, names[0]))
        check.error(names[0], "REF_CYCLE", f"Steps wait in a circle: {shown}", "let one of them read something else")


def _bodies(bodies: Sequence[AndThen], catch: Catch | None) -> Iterator[Node]:
    for each in bodies:
        if each.foreach is not None:
            yield each.foreach
        yield each.body
    if catch is not None:
        yield catch.body


def _add(links: Links, node: Node, graph: dict[int, list[int]], steps: dict[int, StepInfo], owner: int | None) -> None:
    """`owner` is the step that ends after the contents of `node`."""
    if isinstance(node, When):
        for case in node.cases:
            _add(links, case.block, graph, steps, owner)
    elif isinstance(node, Block):
        for statement in (*node.statements, *node.yields):
            _add_statement(links, statement, graph, steps, owner)
    if owner is not None:
        graph[owner].extend(id(each.step) for each in links.waiting(node) if id(each.step) != owner)


def _add_statement(
    links: Links, statement: Node, graph: dict[int, list[int]], steps: dict[int, StepInfo], owner: int | None
) -> None:
    waits = [id(each.step) for each in links.waiting(statement)]
    info = links.steps.get(id(statement))
    if not isinstance(statement, Step) or info is None:
        if owner is not None:
            graph[owner].extend(each for each in waits if each != owner)
        return
    key = id(statement)
    steps[key] = info
    graph.setdefault(key, []).extend(waits)
    if owner is not None:
        graph[owner].append(key)
    for inner in _bodies(statement.bodies, statement.catch):
        _add(links, inner, graph, steps, key)


def _circles(graph: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """One cycle for each start that leads into one; without recursion, because a chain may be long."""
    done: set[int] = set()
    for start in graph:
        if start not in done:
            circle = _circle_from(start, graph, done)
            if circle is not None:
                yield circle


def _circle_from(start: int, graph: Mapping[int, Sequence[int]], done: set[int]) -> list[int] | None:
    found: list[int] | None = None
    path = {start: iter(graph[start])}
    """The current path; from each node, the neighbours that are left to visit."""
    while path:
        node, rest = next(reversed(path.items()))
        following = next(rest, None)
        if following is None:
            del path[node]
            done.add(node)
        elif following in path:
            if found is None:
                way = list(path)
                found = way[way.index(following) :]
        elif following not in done and following in graph:
            path[following] = iter(graph[following])
    return found


def check_recursion(check: Check) -> None:
    """Only warns about a declaration that calls itself, directly or through others: a `when` may end the recursion."""
    called = check.called
    parts = _parts({caller: [target for target, _, _ in calls] for caller, calls in called.items()})
    for caller, calls in called.items():
        for target, name, space in calls:
            if target in called and parts[target] == parts[caller]:
                through = f" through '{name.text}'" if target != caller else ""
                check.diagnostics.warning(
                    space.source,
                    name.span,
                    "CALL_RECURSIVE",
                    f"'{caller}' calls itself{through}",
                    "make sure that a `when` ends it",
                )


def _parts(graph: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The strongly connected components, by number (Tarjan's algorithm, without recursion)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    parts: dict[str, int] = {}
    open_: list[str] = []
    for start in graph:
        if start in numbers:
            continue
        way = {start: iter(graph[start])}
        numbers[start] = lowest[start] = len(numbers)
        open_.append(start)
        while way:
            node, rest = next(reversed(way.items()))
            following = next((each for each in rest if each in graph and each not in parts), None)
            if following is None:
                del way[node]
                if way:
                    above = next(reversed(way))
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == numbers[node]:
                    _close(node, open_, parts)
            elif following in numbers:
                lowest[node] = min(lowest[node], numbers[following])
            else:
                numbers[following] = lowest[following] = len(numbers)
                open_.append(following)
                way[following] = iter(graph[following])
    return parts


def _close(node: str, open_: list[str], parts: dict[str, int]) -> None:
    number = len(parts)
    while True:
        member = open_.pop()
        parts[member] = number
        if member == node:
            return
