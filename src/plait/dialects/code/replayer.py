"""Replaying a run's function: the outcome becomes events and effects of the current decision.

The machine decides when to replay; this decides how it ends: the run is blocked, has ended, or waits.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.effects import Answer, Block, Decision, Effect, Finish, RequestApproval, SetTimer, StartChild
from plait.kernel.errors import Conflict, ErrorInfo, NotFound, PlaitError
from plait.kernel.events import Event
from plait.kernel.ids import NEVER, TaskToken, caller_id
from plait.kernel.inputs import Message
from plait.kernel.machine import RunInfo
from plait.kernel.task import Task

from .answering import no_such, update_path
from .context import entry
from .definition import label_of
from .divergence import spinning
from .errors import WorkflowCodeError, only_continues, ops_of, to_info
from .events import (
    CodeLoaded,
    RunBlocked,
    RunContinued,
    RunUnblocked,
    UpdateOpened,
)
from .history import History, fold_of
from .host import Surroundings
from .location import place_of, token_of
from .op import revoking
from .op_state import INLINE, OpState
from .registry import AnyWorkflow
from .replay import Replay
from .steps import rollback_left_behind

_STARTS = (Task, SetTimer, RequestApproval, StartChild)


class Replayer:
    _decision: Decision
    """The decision being made."""

    def __init__(self, around: Surroundings) -> None:
        self.history = History(around.info.run_id)
        self._around = around
        self._replay: Replay | None = None
        self._now = NEVER
        self._started = False
        self._unloaded = False
        self._reopened = False

    # -- replaying the function ----------------------------------------------------------------------------------

    def _play(self, *, again: bool = False) -> None:
        """Replays the function from the top against the history."""
        if self._replay is not None:
            self.close()
        definition = self._definition()
        if definition is None:
            self._unloaded = True
            refusal = self._not_loaded()
            message = f"no code `{self._label}` here; {refusal.why}"
            self._effect(Block(ErrorInfo("CODE_NOT_LOADED", message, kind="blocked")))
            return
        if self._unloaded and self.history.blocked is None:
            self._effect(Block(None))
        self._unloaded = False
        if not self.history.hash:
            self._record(CodeLoaded(definition.name, definition.hash, definition.version))
        try:
            enter = entry(definition, self.history.input)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            self._block(input_misfit(definition, error))
            return
        replay = self._replay = Replay(
            definition, self.history, self._around, self._record_as_code, self._effect, again=again
        )
        replay.start(enter, self._now)
        self._conclude()

    def _pump(self) -> None:
        if self.history.ended is not None:
            return
        if self._replay is None:
            if self.history.blocked is None and not self._unloaded:
                self._play()
            return
        self._replay.pump(self._now)
        self._conclude()

    def _conclude(self) -> None:
        """Records the outcome of the replay: blocked, ended, or waiting."""
        replay = self._replay
        if replay is None:
            return
        if replay.blocked is not None:
            self._block(replay.blocked)
            return
        if replay.more:
            self._decision.more = True
        if self.history.blocked is not None:
            self._record(RunUnblocked(replay.definition.hash))
            self._effect(Block(None))
        main = replay.main
        if main is None or not main.done():
            return
        if main.cancelled():
            self._fail(
                WorkflowCodeError("FOREIGN_AWAIT", "the workflow cancelled itself", fix="raise an error instead")
            )
        elif (error := main.exception()) is None:
            self._complete(replay, main.result())
        elif (anew := only_continues(error)) is not None:
            self._begin_anew(replay, anew.input)
        else:
            self._fail(error)

    def _begin_anew(self, replay: Replay, input: Raw) -> None:
        """Restarts the function with another input once this decision is committed. Open operations are settled as at
        the end of a run; queued messages and rollback handlers are carried over."""
        inline = [record.at for record in self.history.undoables.values() if record.handler == INLINE]
        try:
            if inline:
                raise rollback_left_behind(inline[0])
            if not self.history.ops:
                raise spinning("a workflow that continues as new")
            if not replay.definition.takes_input and bytes(input) != b"null":
                raise TypeError(f"`{replay.definition.label}` takes no input")
            replay.definition.arguments(input)
        except WorkflowCodeError as error:
            self._fail(error)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            what = "the input that it continues with does not fit the workflow"
            self._fail(WorkflowCodeError("INPUT_INVALID", what, why=str(error)))
        else:
            self._revoke_open("began anew")
            self._record(RunContinued(input))
            self.close()
            self._decision.more = True

    def _complete(self, replay: Replay, result: object) -> None:
        try:
            output = values.encode(result, max_bytes=replay.around.max_payload)
        except PlaitError as error:
            self._fail(WorkflowCodeError("NOT_ENCODABLE", "the workflow's result", why=str(error)))
            return
        self._revoke_open()
        self._effect(Finish("completed", output))

    def _fail(self, error: BaseException) -> None:
        causes = sorted(ops_of(error) & set(self.history.ops))
        self._revoke_open()
        self._effect(Finish("failed", error=to_info(error), data={"causes": causes}))

    def _block(self, blocked: RunBlocked) -> None:
        self.close()
        if blocked != self.history.blocked:
            # What the function did before the misfit is not part of the history
            self._record(blocked)
        message = blocked.fix if blocked.code == "CODE_DIVERGED" else f"`{blocked.at}`: {blocked.found}"
        self._effect(Block(ErrorInfo(blocked.code, message, kind="blocked")))

    def _stop(self) -> None:
        self._revoke_open()
        self.close()

    def _revoke_open(self, how: str = "ended") -> None:
        """Ends what is open because the run ends: stops what is in flight, drops what was about to start."""
        replay = self._replay
        if replay is not None:
            if replay.has_no_open_ops:
                return  # the usual case: every operation was awaited
            replay.give_back_undelivered()
            if replay.answering is not None:
                replay.answering.settle_all(replay, how)
        leaving = {self._token(op.at): op for op in self.history.open_ops() if not op.keep}
        if not leaving:
            return
        kept: list[Effect] = []
        unborn: set[TaskToken] = set()
        for effect in self._decision.effects:
            if isinstance(effect, _STARTS) and effect.token in leaving:
                unborn.add(effect.token)
            else:
                kept.append(effect)
        self._decision.effects = kept
        for token, op in leaving.items():
            if token not in unborn:
                self._effects(revoking(op, token))

    def close(self) -> None:
        """Evicts the function; it can be replayed again."""
        if self._replay is not None:
            self._replay.evict()
            self._replay = None

    # -- updates --------------------------------------------------------------------------------------------------

    def _update(self, message: Message) -> None:
        """A caller's update: refused before anything is recorded, or accepted and answered when its handler ends."""
        if self._replay is None and self.history.blocked is None and not self._unloaded:
            self._play()
        try:
            self._accept(message)
        except PlaitError as refusal:
            self._decision.refusal = refusal
            return
        at = update_path(message.name, self.history.updates.get(message.name, 0))
        self._record_as_code(UpdateOpened(at, message.id, message.name, message.body))
        self._pump()
        answer = next((e for e in self._decision.effects if isinstance(e, Answer) and e.key == message.id), None)
        if answer is None:
            self._decision.replies_later = True
        else:
            self._decision.effects.remove(answer)
            self._decision.reply, self._decision.refusal = answer.body, answer.refusal

    def _accept(self, message: Message) -> None:
        replay = self._replay
        if replay is None or replay.over:
            why = "its code does not fit its history, or is not loaded" if replay is None else "it ends"
            raise Conflict("CODE_NO_UPDATE", f"run {caller_id(self.info.run_id)} takes no updates now", why=why)
        if replay.answering is None:
            raise no_such("update", self.info.run_id, message.name, {})
        replay.answering.accept(self.info.run_id, message.name, message.body)

    # -- details -------------------------------------------------------------------------------------------------

    def _record(self, event: Event) -> None:
        self._decision.events.append(event)
        # Like `History.evolve`, without the call: every step passes here twice
        history, fold = self.history, fold_of(type(event))
        history.seq += 1
        if fold is not None:
            fold(history, event, self._now)

    def _record_as_code(self, event: Event) -> None:
        """Records an event caused by the function's code; first notes a change of that code."""
        replay = self._replay
        if replay is not None and self.history.blocked is None:
            definition = replay.definition
            if self.history.hash != definition.hash:
                self._record(CodeLoaded(definition.name, definition.hash, definition.version))
            replay.record = self._record  # the change is noted only once
        self._record(event)

    def _effect(self, effect: Effect) -> None:
        self._decision.effects.append(effect)

    def _effects(self, effects: list[Effect]) -> None:
        self._decision.effects += effects

    @property
    def info(self) -> RunInfo:
        return self._around.info

    def _definition(self) -> AnyWorkflow | None:
        info = self._around.info
        return self._around.registry.find((info.definition, info.version))

    def _token(self, at: str) -> TaskToken:
        return token_of(at, self.history.generation)

    def _open_op(self, token: TaskToken) -> OpState | None:
        """The open operation of a token, or None; a token from before a rewind has none."""
        history = self.history
        # Before the first rewind a token is a path; one of another generation, as a fork may get, has no operation
        op = history.ops.get(self._path(token) if history.generation else token)
        return op if op is not None and op.status == "open" else None

    def _path(self, token: TaskToken) -> str:
        path, generation = place_of(token)
        return path if generation == self.history.generation else ""

    def _not_loaded(self) -> NotFound:
        return self._around.registry.not_loaded(self._label)

    @property
    def _label(self) -> str:
        info = self._around.info
        return label_of(info.definition, info.version)

    def _is_open(self, at: str) -> bool:
        op = self.history.ops.get(at)
        return op is not None and op.status == "open"


def input_misfit(definition: AnyWorkflow, error: Exception) -> RunBlocked:
    """The input fitted when the run started; its type may have changed since."""
    fix = "make the input type accept what the run was started with"
    return RunBlocked("CODE_DECODE", "input", str(definition.input_type), str(error), fix)
