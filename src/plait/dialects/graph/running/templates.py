"""Templates in the config of a node, filled in when it begins."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from .decision_builder import DecisionBuilder
from .state import Execution
from .topology import NodePlan

_encode = msgspec.json.Encoder().encode


class TemplateError(Exception):
    """A template finds nothing."""


def config_of(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> Raw:
    return Raw(_encode(plan.ir.config))


def filled(builder: DecisionBuilder, template: Any, execution: Execution | None = None) -> Raw:
    return Raw(_encode(template))
