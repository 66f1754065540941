"""Steps for the catalog, declared in Python: `from plait.catalog import catalog_step, python_step`."""

from plait.dialects.goals.steps.builder import Input, Meta, PythonStep, StepBuilder, catalog_step, python_step

__all__ = ["Input", "Meta", "PythonStep", "StepBuilder", "catalog_step", "python_step"]
