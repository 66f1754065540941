"""Plait: durable workflows for Python.

Write an async function, kill the process at any point, start it again, get the right answer.

A name is loaded when it is first used: importing `plait` alone imports nothing else.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.dialects.afl.definition import afl
    from plait.dialects.code.context import Context
    from plait.dialects.code.definition import step, workflow
    from plait.dialects.code.errors import CriticalError, RollbackError
    from plait.dialects.code.loops import Loop
    from plait.dialects.code.steps import Undo, heartbeat, step_info, step_log
    from plait.dialects.goals.definition import goals
    from plait.dialects.graph.graph import graph
    from plait.dialects.graph.handlers import Route, handler
    from plait.dialects.refs.refs import refs
    from plait.engine import Handle
    from plait.kernel.errors import PlaitError
    from plait.kernel.limits import Limits
    from plait.kernel.retry import Retry
    from plait.kernel.version import __version__ as __version__
    from plait.registry.engine import Engine
else:  # to a type checker, `__getattr__` would promise that every name exists

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_PLACES[name]), name)
        return found


__all__ = [
    "Context",
    "CriticalError",
    "Engine",
    "Handle",
    "Limits",
    "Loop",
    "PlaitError",
    "Retry",
    "RollbackError",
    "Route",
    "Undo",
    "afl",
    "goals",
    "graph",
    "handler",
    "heartbeat",
    "refs",
    "step",
    "step_info",
    "step_log",
    "workflow",
]

_PLACES = {
    "__version__": "plait.kernel.version",
    "Context": "plait.dialects.code.context",
    "CriticalError": "plait.dialects.code.errors",
    "Engine": "plait.registry.engine",
    "Handle": "plait.engine",
    "Limits": "plait.kernel.limits",
    "Loop": "plait.dialects.code.loops",
    "PlaitError": "plait.kernel.errors",
    "Retry": "plait.kernel.retry",
    "RollbackError": "plait.dialects.code.errors",
    "Route": "plait.dialects.graph.handlers",
    "Undo": "plait.dialects.code.steps",
    "afl": "plait.dialects.afl.definition",
    "goals": "plait.dialects.goals.definition",
    "graph": "plait.dialects.graph.graph",
    "handler": "plait.dialects.graph.handlers",
    "heartbeat": "plait.dialects.code.steps",
    "refs": "plait.dialects.refs.refs",
    "step": "plait.dialects.code.definition",
    "step_info": "plait.dialects.code.steps",
    "step_log": "plait.dialects.code.steps",
    "workflow": "plait.dialects.code.definition",
}


def __dir__() -> list[str]:
    return [*globals(), *_PLACES]
