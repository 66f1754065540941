"""Plait: durable workflows for Python.

Write an async function, kill the process at any point, start it again, get the right answer.
"""

from plait.dialects.code.context import Context
from plait.dialects.code.definition import step, workflow
from plait.dialects.code.errors import CriticalError, RollbackError
from plait.dialects.code.loops import Loop
from plait.dialects.code.steps import Undo, heartbeat, step_info, step_log
from plait.dialects.goals.definition import goals
from plait.engine import Handle
from plait.kernel.errors import PlaitError
from plait.kernel.limits import Limits
from plait.kernel.retry import Retry
from plait.registry import Engine

__version__ = "0.1.0"

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
    "Undo",
    "goals",
    "heartbeat",
    "step",
    "step_info",
    "step_log",
    "workflow",
]
