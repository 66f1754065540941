"""Asking a person: `ctx.approve`."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from plait.conditions import schema
from plait.kernel import values
from plait.kernel.effects import RequestApproval, SetTimer
from plait.kernel.errors import InvalidInput, PlaitError, TooLarge
from plait.kernel.values import ABSENT

from .definition import bad_option, checked_text
from .errors import WorkflowCodeError
from .events import OpOpened
from .history import OpState
from .op import Op
from .scope import Scope
from .waits import Due


class Verdict(msgspec.Struct, frozen=True):
    """A person's decision. `decision` is `timeout` when nobody decided in time."""

    decision: str
    by: str = ""
    comment: str = ""
    data: Any = None

    @property
    def approved(self) -> bool:
        return self.decision == "approve"


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What a person is asked, and shown."""

    by: str = ""
    title: str = ""
    form: Raw = ABSENT
    evidence: Raw = ABSENT
    answer: Any = Any
    """The type of the data that comes back."""


def asked(name: str, by: str, title: str, form: Any, evidence: Any) -> Asked:
    checked_text(f"by of approve `{name}`", by)
    checked_text(f"title of approve `{name}`", title)
    answer = Any if form is None or isinstance(form, dict) else form
    return Asked(by, title, _form(name, cast("object", form)), _evidence(name, evidence), answer)


def _evidence(name: str, evidence: object) -> Raw:
    try:
        return ABSENT if evidence is None else values.encode(evidence)
    except PlaitError as error:
        raise WorkflowCodeError("NOT_ENCODABLE", f"the evidence of approve `{name}`", why=str(error)) from None


def _form(name: str, form: object) -> Raw:
    """The JSON Schema of a form: of a Python type, or as it is written."""
    if form is None:
        return ABSENT
    try:
        document = cast("object", form) if isinstance(form, dict) else msgspec.json.schema(form)
        schema.compiled(raw := values.encode(document))
    except (TypeError, InvalidInput, TooLarge) as error:
        raise bad_option(f"form of approve `{name}`: {error}", "use a dataclass, or a JSON Schema as a dict") from None
    return raw


class ApproveOp(Op[Verdict]):
    kind = "approval"
    returns: Any = Verdict
    __slots__ = ("_due", "_question")

    def __init__(self, scope: Scope, name: str, question: Asked, due: Due | None) -> None:
        super().__init__(scope, name, depth=3)
        self._question = question
        self._due = due

    def opened(self) -> OpOpened:
        asked = self._question
        names = [asked.by] if asked.by else None
        replay = self.scope.replay
        deadline = None if self._due is None else self._due.time(replay.now)
        return OpOpened(self.at, "approval", replay.after, args=asked.evidence, names=names, deadline=deadline)

    def begin(self, state: OpState) -> None:
        replay = self.scope.replay
        asked = self._question
        title = asked.title or self.name
        replay.effect(RequestApproval(self.token, title, asked.by, state.deadline, asked.form, asked.evidence))
        if state.deadline is not None:
            replay.effect(SetTimer(self.token, state.deadline))

    def value(self, state: OpState) -> Verdict:
        verdict = values.decode(state.output, Verdict) if state.output else Verdict("timeout")
        if verdict.data is None or self._question.answer is Any:
            return verdict
        return replace(verdict, data=values.decode(values.encode(verdict.data), self._question.answer))
