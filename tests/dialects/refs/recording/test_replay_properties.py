"""Whatever is recorded becomes a template that is valid, and does the same again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plait.dialects.refs.recording.draft import Draft
from plait.dialects.refs.recording.drafting import make_draft
from plait.dialects.refs.recording.options import read_options
from plait.dialects.refs.running.recording_values import problems_with
from tests.dialects.refs.player import Player
from tests.support.effort import examples

from .recorder import Recorder

INPUT = {"id": 42, "mail": "ann@example.org", "list": [{"n": 5}, {"n": 6}], "password": "hunter2-secret"}
TOOLS = ["GET_USER", "list-things", "CHARGE", "2fa"]

_refs = st.sampled_from(
    ["@input.id", "@input.mail", "@input.list[0].n", "@{input.list}", "@get_user_1.id", "@charge_1", "@extra.deep.x"]
)
_texts = st.sampled_from(
    ["plain text", "ann@example.org", "@octocat", "cc @@octocat", "@@input.id", "@@ -1 @@", "42", "abc", "x", ""]
)
_leaves = st.one_of(
    _refs,
    _refs.map(lambda ref: f"see {ref}!"),
    _texts,
    st.sampled_from([None, True, 0, 7, 42, 1.5, 5]),
)
_values = st.recursive(
    _leaves, lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from("abc"), below, max_size=3)
)
_arguments = st.dictionaries(st.sampled_from(["id", "userId", "mail", "token", "text", "deep"]), _values, max_size=4)
_calls = st.lists(
    st.tuples(st.sampled_from(TOOLS), _arguments, st.sampled_from(["ok", "ok", "ok", "fail", "later"]), st.booleans()),
    min_size=1,
    max_size=7,
)


def result_of(tool: str, arguments: Any) -> Any:
    return {"id": len(msgspec.json.encode(arguments)) + 40, "tool": tool, "got": arguments, "deep": {"x": "from afar"}}


def recorded(calls: list[tuple[str, Any, str, bool]]) -> Recorder:
    recorder = Recorder(INPUT)
    recorder.send("preset", {"stepName": "extra", "output": {"deep": {"x": 99}}})
    for tool, arguments, how, read_only in calls:
        before = set(recorder.tasks)
        recorder.call(tool, arguments, read_only=read_only)
        for step in sorted(set(recorder.tasks) - before):
            _end(recorder, step, tool, how)
    while recorder.tasks:
        step = next(iter(recorder.tasks))
        _end(recorder, str(step), recorder.machine.run.state.recorded[str(step)].tool, "ok")
    return recorder


def _end(recorder: Recorder, step: str, tool: str, how: str) -> None:
    if how == "fail":
        recorder.fail(step)
    elif how == "ok":
        recorder.answer(step, result_of(tool, recorder.inputs[step]))


def draft_of(recorder: Recorder, **options: Any) -> Draft:
    return make_draft(recorder.recording, read_options(options), problems_with)


def replayed(recorder: Recorder, found: Draft) -> Counter[bytes]:
    """The calls that the template makes with the input that was recorded."""
    player = Player(found.definition)
    player.start({**INPUT, "extra": {"deep": {"x": 99}}})
    tools = {step["name"]: step["action"]["toolName"] for step in found.definition["steps"]}
    player.finish_all(lambda id, input: result_of(tools[id], input))
    assert player.status == "completed"
    return Counter(_call(tools[name], input) for name, input in player.inputs.items())


def _call(tool: str, input: Any) -> bytes:
    return msgspec.json.encode([tool, input], order="deterministic")


WAITED = [
    ("GET_USER", {}, "later", False),
    ("GET_USER", {"id": "@get_user_1.id", "userId": "plain text"}, "ok", False),
    ("GET_USER", {"id": {"a": "plain text"}}, "ok", True),
]
"""The second call waits for the first, so a text in it may be from the third, which arrived later."""


@settings(max_examples=examples(60), deadline=None)
@example(WAITED)
@given(_calls)
def test_a_template_is_valid_and_replays_to_the_same_calls(calls: list[tuple[str, Any, str, bool]]) -> None:
    recorder = recorded(calls)
    steps = {step.name: step for step in recorder.recording.steps}
    for options in ({}, {"accept": "high"}, {"order": "data"}):
        found = draft_of(recorder, **options)
        assert not found.errors, found.errors
        kept = [step.name for step in found.steps if step.included]
        if not kept:
            continue
        wanted = Counter(_call(steps[name].tool, recorder.inputs[name]) for name in kept)
        assert replayed(recorder, found) == wanted


@settings(max_examples=examples(40), deadline=None)
@given(_calls)
def test_nothing_unconfirmed_is_changed_and_no_secret_is_an_example(calls: list[tuple[str, Any, str, bool]]) -> None:
    recorder = recorded(calls)
    found = draft_of(recorder)
    written = {step["name"]: step["input"] for step in found.definition["steps"]}
    moved = any(step.reason == "duplicate" for step in found.steps)
    for step in recorder.recording.steps:
        if step.name in written and not moved and "@extra" not in str(step.input):
            assert written[step.name] == step.input
    assert "hunter2" not in str(found.input_schema)


@settings(max_examples=examples(40), deadline=None)
@given(_calls, st.data())
def test_any_choice_of_steps_and_suggestions_is_valid_or_says_why_not(
    calls: list[tuple[str, Any, str, bool]], data: st.DataObject
) -> None:
    recorder = recorded(calls)
    names = [step.name for step in recorder.recording.steps]
    ids = [each.id for each in draft_of(recorder).suggestions]
    options = {
        "include": data.draw(st.lists(st.sampled_from(names), max_size=3)),
        "exclude": data.draw(st.lists(st.sampled_from(names), max_size=3)),
        "accept": data.draw(st.lists(st.sampled_from(ids), max_size=3)) if ids else [],
        "rename": data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from(["a", "b", "input", "x y"]))),
    }
    found = draft_of(recorder, **options)
    told = {"ref_to_excluded", "include_and_exclude", "suggestions_overlap", "no_tool", "bad_name", "reserved_name"}
    assert {problem.code for problem in found.errors} <= told | {"duplicate_name", "unknown_suggestion"}
