"""The limits of section 10 that concern the definition alone."""

from __future__ import annotations

from collections.abc import Iterator

from plait.definitions.flaws import Note
from plait.dialects.refs.definition.draft import DraftStep
from plait.dialects.refs.definition.examined import Examined
from plait.dialects.refs.definition.limits import MAX_CODE, MAX_RECORDED_STEPS, MAX_STEPS

LARGE = "too_large"


def size(examined: Examined) -> Iterator[Note]:
    draft = examined.draft
    recording = draft.source.mode == "recording"
    most = MAX_RECORDED_STEPS if recording else MAX_STEPS
    if draft.written_steps > most:
        yield Note("/steps", f"Workflow has {draft.written_steps:,} steps. The limit is {most:,}.", "", LARGE)
    if examined.starting and not draft.written_steps and not recording:
        yield Note("/steps", "Workflow has no steps. Add at least one.", "", "no_steps")
    for step in draft.steps:
        yield from _code(step)


def _code(step: DraftStep) -> Iterator[Note]:
    for place, action in (("/action", step.action), ("/compensate/action", step.compensator)):
        if action is None:
            continue
        for key, text in (("code", action.code), ("transformCode", action.transform)):
            if len(text.encode()) > MAX_CODE:
                what = f'Step "{step.name}": `{key}` has more than {MAX_CODE // 1024} KB.'
                yield Note(f"{step.pointer}{place}/{key}", what, "", LARGE)
