"""Less common names of the `code` dialect; the common ones are in `plait` itself."""

from plait.dialects.code.approvals import Verdict
from plait.dialects.code.branches import Results, Won
from plait.dialects.code.definition import Step, Workflow
from plait.dialects.code.messages import Message
from plait.dialects.code.op import Op
from plait.dialects.code.options import StepOptions
from plait.dialects.code.steps import StepInfo, Undo
from plait.embedding import Driver, PassResult, WorkflowHandle, run_workflow
from plait.embedding.drivers.sqlite import SqliteDriver

__all__ = [
    "Driver",
    "Message",
    "Op",
    "PassResult",
    "Results",
    "SqliteDriver",
    "Step",
    "StepInfo",
    "StepOptions",
    "Undo",
    "Verdict",
    "Won",
    "Workflow",
    "WorkflowHandle",
    "run_workflow",
]
