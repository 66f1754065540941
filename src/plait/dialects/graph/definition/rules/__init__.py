"""The rules of validation: one function each, in the order in which flaws are reported.

A rule checks a definition as far as it could be parsed, and yields its findings; it never fails, and never repeats
what the parser has noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plait.definitions.flaws import Note
from plait.dialects.graph.definition.examined import Examined

from .branches import bad_branch
from .flow import cycle, dead_dependency, no_entry, no_terminal
from .loops import bad_loop, loop_target
from .nodes import bad_config, duplicate_id, no_nodes, unknown_type
from .size import too_large
from .targets import self_edge, unknown_target
from .warnings import branch_unreachable, edges_overridden, fanout_over_limit, loop_over_hops, loops_overlap

FindFlaws = Callable[[Examined], Iterable[Note]]

BEFORE_CONDITIONS: tuple[FindFlaws, ...] = (
    no_nodes,
    duplicate_id,
    unknown_type,
    bad_config,
    unknown_target,
    self_edge,
    bad_loop,
    loop_target,
    bad_branch,
)
AFTER_CONDITIONS: tuple[FindFlaws, ...] = (no_terminal, no_entry, cycle, dead_dependency, too_large)
WARNINGS: tuple[FindFlaws, ...] = (
    edges_overridden,
    branch_unreachable,
    fanout_over_limit,
    loop_over_hops,
    loops_overlap,
)
