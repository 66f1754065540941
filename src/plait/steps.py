"""Steps for the catalog, declared in Python: `from plait.steps import step, python_step`."""

from plait.dialects.goals.steps.builder import Input, Meta, PythonStep, StepBuilder, python_step, step

__all__ = ["Input", "Meta", "PythonStep", "StepBuilder", "python_step", "step"]
