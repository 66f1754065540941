"""A recording as values, for drafts."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.definitions.flaws import InvalidDefinition
from plait.dialects.refs.definition.compile import compile_refs
from plait.dialects.refs.recording.draft import Problem
from plait.dialects.refs.recording.recorded import RecordedStep, Recording
from plait.kernel.errors import Conflict

from .recorded_calls import RecordedCall
from .refs_run import RefsRun
from .state import Work

_decode = msgspec.json.Decoder().decode


def recording_of(run: RefsRun) -> Recording:
    state, plan = run.state, run.plan
    if state.mode != "recording":
        raise Conflict(
            "not_a_recording",
            "this run was started from a definition",
            fix="save that definition; only recordings are turned into templates",
        )
    definition: dict[str, Any] = _decode(state.definition)
    return Recording(
        input=run.input,
        steps=tuple(_step(name, call, run.work(name)) for name, call in state.recorded.items()),
        output=_decode(state.returns) if state.returns else msgspec.UNSET,
        servers=plan.servers,
        title=definition.get("title", ""),
    )


def _step(name: str, call: RecordedCall, work: Work) -> RecordedStep:
    return RecordedStep(
        name=name,
        tool=call.tool,
        input=_decode(call.input),
        status="failed" if work.status == "skipped" else work.status,
        output=_value(work.output),
        error=work.error,
        read_only=bool(call.read_only),
        preset=work.preset,
        stale=work.stale,
        began=call.began or call.ended,
        ended=call.ended,
    )


def _value(raw: Raw) -> Any:
    return _decode(raw)


def problems_with(definition: dict[str, Any]) -> list[Problem]:
    """Errors and warnings of a template."""
    try:
        compiled = compile_refs(definition)
    except InvalidDefinition as error:
        return [Problem(flaw.code, flaw.pointer, flaw.message) for flaw in error.flaws]
    return [Problem(note.code or "warning", note.pointer, note.message, "warning") for note in compiled.warnings]
