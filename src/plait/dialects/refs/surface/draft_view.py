"""A draft for people: the steps of the template and why, suggested references, and problems."""

from __future__ import annotations

from rich.text import Text

from plait.cli import words
from plait.cli.output import say, table
from plait.dialects.refs.recording.draft import Draft, DraftStep, Problem
from plait.dialects.refs.recording.suggestions import HIGH, MEDIUM, Suggestion

_STYLES = {"error": "red", "warning": "yellow"}


def say_draft(draft: Draft) -> None:
    if not draft.steps:
        say("nothing was recorded yet")
    rows = [(*_mark(step), step.tool or "preset", words.value(step.input, 60)) for step in draft.steps]
    if rows:
        table(("STEP", "IN TEMPLATE", "TOOL", "INPUT"), rows, fold=("STEP", "INPUT"))
    if draft.suggestions:
        say()
        table(
            ("SUGGESTION", "STEP", "PLACE", "VALUE", "COULD BE", "SURE"),
            [_suggestion(each) for each in draft.suggestions],
            fold=("PLACE", "VALUE", "COULD BE"),
        )
    for problem in draft.problems:
        say(_problem(problem))


def _mark(step: DraftStep) -> tuple[str, Text]:
    name = f"{step.name} as {step.template_name}" if step.included and step.template_name != step.name else step.name
    reason = f"{step.reason} of {step.duplicate_of}" if step.duplicate_of else step.reason
    return name, Text(f"yes: {reason}", "green") if step.included else Text(f"no: {reason}", "bright_black")


def _suggestion(found: Suggestion) -> tuple[str, str, str, str, str, Text]:
    style = "green" if found.confidence >= HIGH else "yellow" if found.confidence >= MEDIUM else "bright_black"
    value = "hidden" if found.kind == "secret" else words.value(found.value, 40)
    return found.id, found.step, found.pointer, value, found.ref, Text(f"{found.confidence} %", style)


def _problem(problem: Problem) -> Text:
    place = f"{problem.pointer}: " if problem.pointer else ""
    found = Text.assemble((place, "bold"), (f"{problem.severity} ", _STYLES[problem.severity]), problem.message)
    return found.append(f" [{problem.code}]", "bright_black")
