"""Operations on other runs: starting a child, and sending a message."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Raw

from plait.kernel import values
from plait.kernel.bundle import Reference
from plait.kernel.effects import SendMessage, StartChild
from plait.kernel.errors import InvalidInput, PlaitError
from plait.kernel.ids import RunId
from plait.kernel.queue_options import checked
from plait.kernel.run_queues import ChildQueueing
from plait.kernel.values import ABSENT, NULL

from .definition import checked_text
from .errors import WorkflowCodeError
from .events import OpOpened
from .op import Op
from .op_state import OpState
from .options import bad_option
from .scope import Scope
from .waits import Due

T = TypeVar("T")

_WAITED = {False: "that is waited for", True: "whose end nobody waits for"}


class ChildOp(Op[T]):
    kind = "child"
    __slots__ = (
        "_detached",
        "_due",
        "_input",
        "_keep",
        "_labels",
        "_queueing",
        "_raw",
        "_reference",
        "_run_id",
        "returns",
    )

    def __init__(
        self,
        scope: Scope,
        name: str,
        reference: Reference,
        input: object,
        run_id: RunId | None,
        due: Due | None,
        labels: dict[str, str],
        keep: bool,
        returns: Any,
        queueing: ChildQueueing | None = None,
        *,
        detached: bool = False,
        depth: int = 3,
    ) -> None:
        super().__init__(scope, name, depth)
        self._reference = reference
        self._input = input
        self._raw = ABSENT
        self._run_id = run_id
        self._due = due
        self._labels = labels
        self._keep = keep
        self._detached = detached
        self._queueing = queueing
        self.returns = returns

    def opened(self) -> OpOpened:
        replay = self.scope.replay
        self._raw = self._encoded()
        return OpOpened(
            self.at,
            "child",
            replay.after,
            run_id=self._run_id or replay.child_id(self.at),
            given=self._run_id is not None,
            keep=self._keep,
            detached=self._detached,
            definition=self._reference.label,
        )

    def misfit(self, state: OpState) -> str | None:
        return None if state.detached == self._detached else f"child `{state.at}` {_WAITED[state.detached]}"

    @property
    def words(self) -> str:
        return f"{super().words} {_WAITED[self._detached]}"

    def _encoded(self) -> Raw:
        try:
            return values.encode(self._input, max_bytes=self.scope.replay.around.max_payload)
        except PlaitError as error:
            what = f"the input of child `{self.name}`: {error.what}"
            raise WorkflowCodeError("NOT_ENCODABLE", what, fix=error.fix, why=error.why) from None

    def begin(self, state: OpState) -> None:
        """Whether the definition exists and takes this input is found out after the decision."""
        replay, reference = self.scope.replay, self._reference
        replay.effect(
            StartChild(
                self.token,
                state.run_id or replay.child_id(self.at),
                reference.dialect,
                reference.definition,
                self._raw or self._encoded(),
                None if self._due is None else self._due.time(replay.now),
                self._labels,
                announces=self._detached,
                independent=self._keep,
                queueing=self._queueing,
            )
        )

    def value(self, state: OpState) -> Any:
        return values.decode(state.output or NULL, self.returns)


class StartChildOp(ChildOp[str]):
    """Starts a detached child; completes as soon as the child has started."""

    __slots__ = ()

    def __init__(
        self,
        scope: Scope,
        name: str,
        reference: Reference,
        input: object,
        run_id: RunId | None,
        due: Due | None,
        labels: dict[str, str],
        queueing: ChildQueueing | None,
    ) -> None:
        super().__init__(
            scope, name, reference, input, run_id, due, labels, True, str, queueing, detached=True, depth=4
        )


class SendOp(Op[None]):
    kind = "send"
    __slots__ = ("_body", "_message", "_raw", "_run_id")

    def __init__(self, scope: Scope, name: str, run_id: RunId, message: str, body: object) -> None:
        super().__init__(scope, name, depth=3)
        self._run_id = run_id
        self._message = message
        self._body = body
        self._raw = NULL

    def opened(self) -> OpOpened:
        replay = self.scope.replay
        try:
            self._raw = values.encode(self._body, max_bytes=replay.around.max_payload)
        except PlaitError as error:
            raise WorkflowCodeError("NOT_ENCODABLE", f"the body of send `{self.name}`", why=str(error)) from None
        return OpOpened(self.at, "send", replay.after, run_id=self._run_id, names=[self._message])

    def begin(self, state: OpState) -> None:
        replay = self.scope.replay
        replay.effect(SendMessage(self.token, self._run_id, self._message, self._raw))
        replay.close(self.at)

    def value(self, state: OpState) -> None:
        return None


def queueing_of(name: str, given: ChildQueueing) -> ChildQueueing | None:
    """The checked options of a child's queue, or None if it has none."""
    if not given:
        return None
    for option in given:
        if option not in ChildQueueing.__annotations__:
            raise bad_option(f"{option}=… of child `{name}`", f"use {', '.join(ChildQueueing.__annotations__)}")
    try:
        return checked(given)
    except InvalidInput as refusal:
        raise bad_option(f"child `{name}`: {refusal.what}", refusal.fix) from None


def reference_of(name: str, definition: Any) -> Reference:
    """The reference by which a parent names its child's definition."""
    if isinstance(definition, str):
        label = checked_text(f"the definition of child `{name}`", definition)
        return Reference("", label, label.partition("@")[0])
    found = getattr(definition, "reference", None)
    if found is None:
        raise WorkflowCodeError(
            "NOT_LOADED",
            f"child `{name}`: {definition!r} is not something that can be started",
            fix="pass a workflow, its name, or goals(...)",
        )
    return found()
