"""Makes drafts, at any time and without changing anything.

The recorded inputs pass through four stages: accepted suggestions, references to the first of duplicates, the
selection of steps, and their names in the template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from plait.definitions.flaws import escape
from plait.definitions.nearest import did_you_mean
from plait.dialects.refs.definition.rules.names import step_name
from plait.dialects.refs.references.heads import INPUT, heads, places
from plait.dialects.refs.references.template import Ref, parse

from .acceptance import accepted, applied
from .draft import Draft, DraftStep, Problem
from .effect_order import effect_order
from .input_schema import infer_schema
from .options import DraftOptions
from .problems import literal_secrets, refs_to_excluded
from .recorded import RecordedStep, Recording
from .selection import Choice, duplicates, select
from .step_names import name_flaw
from .suggestions import Suggestions
from .template_steps import Naming, moved, return_step, tool_step

Check = Callable[[dict[str, Any]], Sequence[Problem]]
"""Returns the problems of a definition."""


def make_draft(recording: Recording, options: DraftOptions, check: Check) -> Draft:
    return _Drafting(recording, options, check).draft()


class _Drafting:
    def __init__(self, recording: Recording, options: DraftOptions, check: Check) -> None:
        self._recording = recording
        self._options = options
        self._check = check
        self._problems: list[Problem] = []
        """Problems of the options."""

    def draft(self) -> Draft:
        recording, options = self._recording, self._options
        include, exclude = self._known_steps("include"), self._known_steps("exclude")
        self._check_both(include, exclude)
        repeated = duplicates(recording, include)
        suggestions = Suggestions(recording, [*exclude, *repeated])
        offered = suggestions.all()
        chosen, flaws = accepted(offered, options.accept)
        self._problems += [Problem(flaw.code, flaw.pointer, flaw.message) for flaw in flaws]
        recorded = applied({step.name: step.input for step in recording.steps}, chosen)
        inputs = {name: moved(input, repeated) for name, input in recorded.items()}
        output = moved(self._output(), repeated)
        choices = select(recording, inputs, output, include, exclude, repeated)
        naming = Naming(self._renamed(), suggestions.input_names.presets)
        kept = [step for step in recording.steps if choices[step.name].included]
        order = self._order(kept, inputs)
        steps = [tool_step(step, inputs[step.name], order.get(step.name, ()), naming) for step in kept]
        if output is not msgspec.UNSET:
            steps.append(return_step(naming.rewritten(output), steps))
        schema = self._input_schema(steps, suggestions.input_names.values)
        definition = self._definition(steps, schema)
        shown = {each for each in choices if choices[each].reason not in ("failed", "running", "duplicate")}
        return Draft(
            steps=[_shown(step, choices[step.name], naming, inputs, order) for step in recording.steps],
            suggestions=[each for each in offered if each.step in shown],
            input_schema=schema,
            problems=[*self._problems, *self._found(definition, choices, naming)],
            definition=definition,
        )

    # -- options -------------------------------------------------------------------------------------------------

    def _known_steps(self, option: str) -> list[str]:
        """The existing steps among those named; the others are noted as problems."""
        given: list[str] = getattr(self._options, option)
        return [name for index, name in enumerate(given) if self._is_step(name, f"/options/{option}/{index}")]

    def _is_step(self, name: str, pointer: str) -> bool:
        names = [step.name for step in self._recording.steps]
        if name not in names:
            fix = did_you_mean(name, names, "the draft lists the steps")
            self._problems.append(Problem("unknown_step", pointer, f'There is no step "{name}"; {fix}.'))
        return name in names

    def _check_both(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        for index, name in enumerate(self._options.include):
            if name in exclude:
                text = f'Step "{name}" is both included and excluded. Keep one.'
                self._problems.append(Problem("include_and_exclude", f"/options/include/{index}", text))
            elif name in include and not next(step for step in self._recording.steps if step.name == name).tool:
                text = f'Step "{name}" is a preset without a tool. Set it with `toolName`, or leave it a parameter.'
                self._problems.append(Problem("no_tool", f"/options/include/{index}", text))

    def _renamed(self) -> dict[str, str]:
        found: dict[str, str] = {}
        taken = {step.name for step in self._recording.steps} - set(self._options.rename)
        for name, new in self._options.rename.items():
            pointer = f"/options/rename/{escape(name)}"
            if not self._is_step(name, pointer):
                continue
            if (code := name_flaw(new)) is not None:
                self._problems.append(
                    Problem(code, pointer, f'Step name "{new}" is not valid. Use "{step_name(new)}".')
                )
            elif new in taken:
                self._problems.append(
                    Problem("duplicate_name", pointer, f'There is a step "{new}" already. Use another name.')
                )
            else:
                found[name] = new
                taken.add(new)
        return found

    def _output(self) -> Any:
        """What the template returns; unset if that is left to its last steps."""
        wanted = self._options.output
        given = wanted if wanted is not msgspec.UNSET else self._recording.output
        is_reference = isinstance(given, str) and parse(given).whole is not None
        if is_reference or isinstance(given, dict | msgspec.UnsetType):
            return cast("Any", given)
        text = "A template returns an object, or what one reference names. Give such an `output`."
        severity = "warning" if wanted is msgspec.UNSET else "error"
        self._problems.append(Problem("bad_output", "/options/output", text, severity))
        return msgspec.UNSET

    # -- the template --------------------------------------------------------------------------------------------

    def _order(self, kept: Sequence[RecordedStep], inputs: Mapping[str, Any]) -> dict[str, list[str]]:
        if self._options.order == "data":
            return {}
        return effect_order(kept, {step.name: heads(inputs[step.name]) for step in kept})

    def _input_schema(self, steps: Sequence[Mapping[str, Any]], recorded: Mapping[str, Any]) -> dict[str, Any]:
        given = self._options.input_schema
        if not isinstance(given, msgspec.UnsetType):
            return given
        refs = (place.token for step in steps for place in places(step["input"]))
        return infer_schema([ref.path for ref in refs if isinstance(ref, Ref) and ref.head == INPUT], dict(recorded))

    def _definition(self, steps: Sequence[Mapping[str, Any]], schema: dict[str, Any]) -> dict[str, Any]:
        recording, options = self._recording, self._options
        found: dict[str, Any] = {}
        if title := options.title or recording.title:
            found["title"] = title
        if options.description:
            found["description"] = options.description
        if recording.servers is not None:
            found["servers"] = [*recording.servers]
        return {**found, "input_schema": schema, "steps": [*steps]}

    def _found(self, definition: dict[str, Any], choices: Mapping[str, Choice], naming: Naming) -> list[Problem]:
        steps = definition["steps"]
        left_out = refs_to_excluded(steps, {naming.of(name) for name, each in choices.items() if not each.included})
        told = {problem.pointer for problem in left_out}
        return [
            *left_out,
            *(each for each in self._check(definition) if each.pointer not in told),
            *literal_secrets(steps),
        ]


def _shown(
    step: RecordedStep, choice: Choice, naming: Naming, inputs: Mapping[str, Any], order: Mapping[str, Sequence[str]]
) -> DraftStep:
    return DraftStep(
        name=step.name,
        tool=step.tool,
        status=step.status,
        included=choice.included,
        reason=choice.reason,
        duplicate_of=choice.duplicate_of,
        template_name=naming.of(step.name) if choice.included else "",
        input=naming.rewritten(inputs[step.name]) if choice.included else inputs[step.name],
        output=step.output,
        error=step.error,
        read_only=step.read_only,
        preset=step.preset,
        stale=step.stale,
        depends_on=[naming.of(name) for name in order.get(step.name, ())],
    )
