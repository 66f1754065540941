"""What the graph and the planner know of a step: its input names, its output names, and the goals of its child."""

from __future__ import annotations

from dataclasses import dataclass

from .attribute import Attribute, Collect
from .step import Step


@dataclass(frozen=True, slots=True)
class Input:
    """A name that a step takes from others, unlike const and meta inputs."""

    name: str
    required: bool
    collect: Collect
    deadline: int
    gate: bool = False
    """Whether a `match` judges its values; until then the step asks for nothing else."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Inputs, outputs and types, in the order of their names."""

    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    goals: tuple[str, ...]
    types: tuple[tuple[str, str], ...]
    """The type of each shared name; `any` declares nothing."""


def ports_of(step: Step) -> Ports:
    shared = [(name, each) for name, each in sorted(step.attributes.items()) if each.role not in ("const", "meta")]
    return Ports(
        inputs=tuple(_input(name, each) for name, each in shared if each.role != "output"),
        outputs=tuple(name for name, each in shared if each.role == "output"),
        goals=step.flow.goals if step.flow is not None else (),
        types=tuple((name, each.type) for name, each in shared if each.type != "any"),
    )


def _input(name: str, attribute: Attribute) -> Input:
    detail = attribute.detail
    return Input(name, attribute.role == "required", detail.collect, detail.deadline, detail.match is not None)
