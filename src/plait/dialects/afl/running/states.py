"""The state machines of section 3.2, as tables: the one place that says which state follows which.

    STEP    Created → initialization → scripts → mixin blocks → mixin capture → EventTransmit
                    → statement blocks → statement capture → End → Complete
    CATCH   on error, if there is a catch: catch → statement capture → End → Complete
    YIELD   Created → initialization → scripts → End → Complete
    SCHEMA  Created → initialization → End → Complete
    BLOCK   Created → execution → End → Complete

Every state that is not terminal may also go to `Error`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final, Literal

_PREFIX: Final = "state."

CREATED: Final = "state.statement.Created"
INIT_BEGIN: Final = "state.facet.initialization.Begin"
INIT_END: Final = "state.facet.initialization.End"
SCRIPTS_BEGIN: Final = "state.facet.scripts.Begin"
SCRIPTS_END: Final = "state.facet.scripts.End"
MIXIN_BLOCKS_BEGIN: Final = "state.mixin.blocks.Begin"
MIXIN_BLOCKS_CONTINUE: Final = "state.mixin.blocks.Continue"
MIXIN_BLOCKS_END: Final = "state.mixin.blocks.End"
MIXIN_CAPTURE_BEGIN: Final = "state.mixin.capture.Begin"
MIXIN_CAPTURE_END: Final = "state.mixin.capture.End"
EVENT_TRANSMIT: Final = "state.EventTransmit"
BLOCKS_BEGIN: Final = "state.statement.blocks.Begin"
BLOCKS_CONTINUE: Final = "state.statement.blocks.Continue"
BLOCKS_END: Final = "state.statement.blocks.End"
CATCH_BEGIN: Final = "state.statement.catch.Begin"
CATCH_CONTINUE: Final = "state.statement.catch.Continue"
CATCH_END: Final = "state.statement.catch.End"
CAPTURE_BEGIN: Final = "state.statement.capture.Begin"
CAPTURE_END: Final = "state.statement.capture.End"
EXECUTION_BEGIN: Final = "state.block.execution.Begin"
EXECUTION_CONTINUE: Final = "state.block.execution.Continue"
EXECUTION_END: Final = "state.block.execution.End"
END: Final = "state.statement.End"
COMPLETE: Final = "state.statement.Complete"
ERROR: Final = "state.statement.Error"

RESERVED: Final = frozenset(("state.statement.scripts.Begin", "state.statement.scripts.End"))
"""Reserved by the language, but in no table."""

TERMINAL: Final = frozenset((COMPLETE, ERROR))

TableName = Literal["STEP", "YIELD", "SCHEMA", "BLOCK"]


def _in_order(*states: str) -> dict[str, str]:
    return dict(pairwise(states))


_CATCH: Final = _in_order(CATCH_BEGIN, CATCH_CONTINUE, CATCH_END, CAPTURE_BEGIN)
"""A branch of STEP: entered from any state when the step fails and has a catch."""

TABLES: Final[Mapping[TableName, Mapping[str, str]]] = {
    "STEP": {
        **_in_order(
            CREATED,
            INIT_BEGIN,
            INIT_END,
            SCRIPTS_BEGIN,
            SCRIPTS_END,
            MIXIN_BLOCKS_BEGIN,
            MIXIN_BLOCKS_CONTINUE,
            MIXIN_BLOCKS_END,
            MIXIN_CAPTURE_BEGIN,
            MIXIN_CAPTURE_END,
            EVENT_TRANSMIT,
            BLOCKS_BEGIN,
            BLOCKS_CONTINUE,
            BLOCKS_END,
            CAPTURE_BEGIN,
            CAPTURE_END,
            END,
            COMPLETE,
        ),
        **_CATCH,
    },
    "YIELD": _in_order(CREATED, INIT_BEGIN, INIT_END, SCRIPTS_BEGIN, SCRIPTS_END, END, COMPLETE),
    "SCHEMA": _in_order(CREATED, INIT_BEGIN, INIT_END, END, COMPLETE),
    "BLOCK": _in_order(CREATED, EXECUTION_BEGIN, EXECUTION_CONTINUE, EXECUTION_END, END, COMPLETE),
}

ObjectType = Literal[
    "Workflow",
    "VariableAssignment",
    "SchemaInstantiation",
    "YieldAssignment",
    "Facet",
    "AndThen",
    "AndMap",
    "AndMatch",
    "AndCatch",
]

TABLE_OF: Final[Mapping[ObjectType, TableName]] = {
    "Workflow": "STEP",
    "VariableAssignment": "STEP",
    "SchemaInstantiation": "SCHEMA",
    "YieldAssignment": "YIELD",
    "Facet": "STEP",
    "AndThen": "BLOCK",
    "AndMap": "BLOCK",
    "AndMatch": "BLOCK",
    "AndCatch": "BLOCK",
}


class IllegalTransition(Exception):
    """A step was to move in a way that its table does not allow; such a decision is dropped as a whole."""

    def __init__(self, table: TableName, current: str, wanted: str) -> None:
        super().__init__(f"{table}: no step goes from {current} to {wanted}")


def check_move(table: TableName, current: str, wanted: str) -> None:
    """Raises `IllegalTransition`."""
    if current not in TERMINAL:
        if wanted == TABLES[table].get(current) or wanted == ERROR:
            return
        if wanted == CATCH_BEGIN and table == "STEP":  # also from one catch to the next
            return
    raise IllegalTransition(table, current, wanted)


def passed(table: TableName, current: str, reached: str) -> list[str]:
    """The states that a step has passed, without the first, with the last."""
    found: list[str] = []
    following = TABLES[table]
    state: str | None = current
    while state is not None and state != reached:
        state = following.get(state)
        if state is not None:
            found.append(state)
    return found if state == reached else [reached]
