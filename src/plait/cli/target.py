"""The target of `plait run`.

app:order, path/to/file.py:order    code on this machine: it is loaded, and this process does the work
goals:ship                          a definition of that dialect
graph.json                          a definition in a file
order, order@2, order@prod          a definition by its name, with a version or a tag
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from plait.kernel.errors import InvalidInput, NotFound

from .definition_files import read_definition_file
from .extensions import dialects, extension_of, extensions
from .loading import definitions_of, load_module


@dataclass(frozen=True, slots=True)
class Target:
    definition: Any
    """The definition, in the form that an engine or a client can start."""
    label: str
    """Its name in lists of runs."""
    definitions: Sequence[object] = ()
    """The definitions that this process must load for it."""
    local: bool = False
    """Whether it is code on this machine."""
    named_inputs: bool = False
    in_file: bool = False
    """Whether the definition itself is in a file on this machine."""


def read_target(text: str) -> Target:
    prefix, colon, rest = text.partition(":")
    if colon and prefix in dialects():
        extension = extension_of(prefix)
        definition = extension.read(rest)
        return Target(definition, getattr(definition, "label", rest), named_inputs=extension.named_inputs)
    found = read_definition_file(text)
    if found is not None:
        definition = found.extension.definition(found.content)
        return Target(definition, definition.label, named_inputs=found.extension.named_inputs, in_file=True)
    if colon or text.endswith(".py") or "/" in text:
        return Target(None, text, local=True)
    return Target(text, text)


def load_target(text: str) -> Target:
    """Loads the target, and everything else that its module declares."""
    name, colon, attributes = text.rpartition(":")
    if not colon or not name or not attributes:
        raise no_target(text)
    module = load_module(name)
    wanted = attributes.split(",")
    found = [_attribute(module, name, attribute) for attribute in wanted]
    for extension in extensions():
        definition = extension.startable(found)
        if definition is not None:
            return Target(
                definition, definition.label, definitions_of(module), local=True, named_inputs=extension.named_inputs
            )
    raise InvalidInput(
        "cli.bad_target",
        f"{attributes} in {name} can't be run together",
        fix="run each of them alone; only steps can be run together",
    )


def no_target(text: str) -> InvalidInput:
    return InvalidInput(
        "cli.bad_target",
        f"{text!r} does not name a workflow",
        fix="write module:function, for example app:order, or path/to/file.py:function",
    )


def _attribute(module: ModuleType, name: str, attribute: str) -> object:
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise _unknown(module, name, attribute)
    if all(extension.startable([found]) is None for extension in extensions()):
        kind = "function" if callable(found) else type(found).__name__
        raise InvalidInput(
            "cli.not_a_workflow",
            f"`{attribute}` in {name} is a plain {kind}",
            fix="mark it with @workflow, or make it a step with @python_step",
        )
    return found


def _unknown(module: ModuleType, name: str, attribute: str) -> NotFound:
    declared = {extension.declares: list(extension.declared(module)) for extension in extensions()}
    near = difflib.get_close_matches(attribute, [each for names in declared.values() for each in names], 1)
    there = [f"its {what}: {', '.join(names)}" for what, names in declared.items() if names]
    return NotFound(
        "cli.no_workflow",
        f"{name} has no `{attribute}`",
        why="; ".join(there) or "it declares nothing that can be run",
        fix=f"did you mean {name}:{near[0]}?" if near else "check the name",
    )
