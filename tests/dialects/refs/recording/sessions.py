"""Recordings made up for tests: each call begins when the one before it has ended."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.dialects.refs.recording.draft import Draft
from plait.dialects.refs.recording.drafting import make_draft
from plait.dialects.refs.recording.options import DraftOptions
from plait.dialects.refs.recording.recorded import RecordedStep, Recording
from plait.dialects.refs.recording.step_names import base_of, next_number, numbered


class Session:
    def __init__(self, input: dict[str, Any] | None = None, **fields: Any) -> None:
        self._input = input or {}
        self._fields = fields
        self._steps: list[RecordedStep] = []
        self._numbers: dict[str, int] = {}
        self._now = 0

    def call(self, tool: str, input: Any = None, output: Any = None, **fields: Any) -> RecordedStep:
        base = base_of(tool)
        self._numbers[base] = next_number(base, self._numbers)
        times: dict[str, Any] = {"began": self._now + 1, "ended": self._now + 2}
        return self._add(
            RecordedStep(
                name=numbered(base, self._numbers[base]),
                tool=tool,
                input=input or {},
                output=output,
                **(times | fields),
            )
        )

    def read(self, tool: str, input: Any = None, output: Any = None, **fields: Any) -> RecordedStep:
        return self.call(tool, input, output, read_only=True, **fields)

    def preset(self, name: str, output: Any, tool: str = "", input: Any = None) -> RecordedStep:
        at = self._now + 1
        return self._add(
            RecordedStep(name=name, tool=tool, input=input or {}, output=output, preset=True, began=at, ended=at)
        )

    def _add(self, step: RecordedStep) -> RecordedStep:
        self._steps.append(step)
        self._now = max(self._now, step.began, step.ended)
        return step

    @property
    def recording(self) -> Recording:
        return Recording(input=self._input, steps=tuple(self._steps), **self._fields)

    def draft(self, **options: Any) -> Draft:
        return draft(self.recording, **options)


def draft(recording: Recording, **options: Any) -> Draft:
    return make_draft(recording, msgspec.convert(options, DraftOptions), lambda definition: [])


def included(found: Draft) -> list[str]:
    return [step.name for step in found.steps if step.included]


def reasons(found: Draft) -> dict[str, str]:
    return {step.name: step.reason for step in found.steps}


def codes(found: Draft) -> list[tuple[str, str]]:
    return [(problem.code, problem.pointer) for problem in found.problems]
