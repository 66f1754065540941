"""Language models that dialects call, what they may do inside a workflow, and the data pipelines that models and people
share.

Names are imported on first use: a dialect that needs only the models does not load the pipelines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Model, ModelError, ModelReply, ModelRequest
    from .pipelines.alone import pipeline
    from .pipelines.errors import InvalidPipeline, PipelineError
    from .tools.function_tool import tool
else:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_PLACES[name]), name)


__all__ = [
    "InvalidPipeline",
    "Model",
    "ModelError",
    "ModelReply",
    "ModelRequest",
    "PipelineError",
    "pipeline",
    "tool",
]

_PLACES = {
    "InvalidPipeline": "plait.agents.pipelines.errors",
    "Model": "plait.agents.model",
    "ModelError": "plait.agents.model",
    "ModelReply": "plait.agents.model",
    "ModelRequest": "plait.agents.model",
    "PipelineError": "plait.agents.pipelines.errors",
    "pipeline": "plait.agents.pipelines.alone",
    "tool": "plait.agents.tools.function_tool",
}
