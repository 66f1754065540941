"""The state of a run, all of it folded from events and saved in snapshots; and the tokens of its tasks."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.dialects.goals.planning.plan import Plan
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId, TaskToken
from plait.kernel.values import ABSENT

StepStatus = Literal["pending", "active", "completed", "failed", "skipped"]
ItemStatus = Literal[
    "pending",
    "active",
    "not_completed",
    "succeeded",
    "failed",
    "compensating",
    "compensated",
    "compensation_failed",
]
FlowStatus = Literal["active", "completed", "failed", "cancelled"]

ENDED = ("completed", "failed", "skipped")
OPEN = ("pending", "active", "not_completed")
DONE = ("succeeded", "compensating", "compensated", "compensation_failed")
"""Statuses of items whose work was done, whatever became of it later."""
INIT, PATCH = "", "patch"
"""Pseudo-steps: the providers of values that no step provided."""

PREPARE, MATCH, MAPPING, COMPENSATION = "prepare:", "match:", "shape:", "undo:"
CALLBACK, WAIT = "callback:", "wait:"
LINGER = TaskToken("linger")
"""Prefixes of tokens of tasks and timers; the token of an item has none."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """One value of an attribute; the first of a name counts, later ones are kept and shown."""

    value: Raw
    step: str = INIT
    set_at: Millis = Millis(0)


class ItemState(msgspec.Struct, omit_defaults=True):
    values: dict[str, Raw] = {}
    """The item's values of the `for_each` arrays, by outer name."""
    place: int = 0
    """The place in the fan-out, before any item was dropped."""
    status: ItemStatus = "pending"
    started_at: Millis | None = None
    ended_at: Millis | None = None
    outputs: Raw = ABSENT
    returned: Raw = ABSENT
    """Raw outputs that a script must map."""
    error: str = ""
    cause: ErrorInfo | str = ""
    """The error of its failed child run; a sentence in snapshots of older versions."""
    attempts: int = 0
    """The number of attempts that have failed so far."""
    retry_at: Millis | None = None
    accepted_at: Millis | None = None
    accepted: int = 0
    """The attempt of an async call that was accepted."""
    memo: bool = False
    rolled_back: bool = False
    """Whether it was compensated with the whole run, not with its step alone."""
    round: int = 0
    """The number of times it was resumed after the run had failed."""

    @property
    def open(self) -> bool:
        return self.status in OPEN


class FormerItem(msgspec.Struct, omit_defaults=True):
    """Work that was redone under another token. An answer to it is late; if its compensator failed for good, that can
    still be retried."""

    step: str
    item: ItemState
    inputs: Raw = ABSENT
    """The inputs of its step, by inner name."""


class StepState(msgspec.Struct, omit_defaults=True):
    status: StepStatus = "pending"
    started_at: Millis | None = None
    ended_at: Millis | None = None
    opened_seq: int = 0
    """The number of the first event of its start."""
    generation: int = 0
    """The number of times its work was redone under new tokens."""
    inputs: Raw = ABSENT
    """Inputs by inner name."""
    outputs: Raw = ABSENT
    error: str = ""
    reason: str = ""
    """Why it was skipped."""
    unsatisfied: list[str] = []
    total: int = 0
    """The number of items before any was dropped."""
    dropped: list[int] = []
    items: dict[str, ItemState] = {}
    """Items by token, in the order of the fan-out."""
    closed: list[str] = []
    """Optional inputs that are no longer awaited."""
    waits: dict[str, Millis] = {}
    """Optional inputs that are awaited, and until when."""
    matches: dict[str, dict[int, bool]] = {}
    """The verdicts of `match` on the candidates of an input, by index."""

    @property
    def ended(self) -> bool:
        return self.status in ENDED


class FlowState(msgspec.Struct, omit_defaults=True):
    plan: Plan
    seed: int
    parent_step: str = ""
    """The step of the parent run whose child this is."""
    returns: list[str] = []
    status: FlowStatus = "active"
    error: str = ""
    started_at: Millis = Millis(0)
    ended_at: Millis | None = None
    deactivated_at: Millis | None = None
    outlived: bool = False
    """Whether work was in flight when the run ended."""
    cut: bool = False
    """Whether it was ended from outside, by a cancel, its deadline or a limit: later results are late."""
    updated_at: Millis = Millis(0)
    attributes: dict[str, list[Value]] = {}
    steps: dict[str, StepState] = {}
    finished: list[str] = []
    """Tokens of items in the order in which they succeeded."""
    former: dict[str, FormerItem] = {}
    """Former items by token."""
    seq: int = 0
    end_seq: int = 0
    """The number of the event that has its outcome."""


class StartData(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run is started with: its plan, made beforehand."""

    plan: Plan
    parent_step: str = ""
    returns: list[str] = []
    """Names that the parent wants beside the outputs of the goals."""
    more: dict[str, list[Any]] = {}
    """Further values of names in init."""


# -- tokens ------------------------------------------------------------------------------------------------------------


def item_token(run_id: RunId, seed: int, step_id: str, place: int, generation: int = 0) -> str:
    """A UUID derived from the seed drawn at the start: unguessable from outside, the same in every replay. It is the
    idempotency key, so work that is redone has another."""
    whose = f"{run_id}\0{seed}\0{step_id}\0{place}" + (f"\0{generation}" if generation else "")
    digest = hashlib.blake2b(whose.encode(), digest_size=16).digest()
    bits = int.from_bytes(digest, "big") & ~(0xF << 76 | 3 << 62) | 8 << 76 | 2 << 62
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def compensation_token(token: str, round: int) -> TaskToken:
    """The token of a compensation. Work that is redone and compensated once more is another task."""
    return TaskToken(f"{COMPENSATION}{token}:{round + 1}" if round else f"{COMPENSATION}{token}")


def compensated_item(token: str) -> str:
    """The item that a compensator is for."""
    return token.removeprefix(COMPENSATION).partition(":")[0]


def match_token(step_id: str, name: str, index: int) -> TaskToken:
    return TaskToken(f"{MATCH}{step_id}:{index}:{name}")


def match_parts(token: str) -> tuple[str, str, int]:
    """Step, name and index; a step's id has no colon, a name may have one."""
    step_id, index, name = token.removeprefix(MATCH).split(":", 2)
    return step_id, name, int(index)


def wait_token(step_id: str, name: str) -> TaskToken:
    return TaskToken(f"{WAIT}{step_id}:{name}")
