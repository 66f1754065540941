"""One run on an ordered key-value store, without an engine around it: `run_workflow`."""

from .driver import Driver
from .handle import PassResult, WorkflowHandle, run_workflow

__all__ = ["Driver", "PassResult", "WorkflowHandle", "run_workflow"]
