"""The state of a run: all of it is folded from events, and all of it is in a snapshot. And the tokens of its tasks."""

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
"""Its work was done, whatever became of it later."""
INIT, PATCH = "", "patch"
"""Who provided a value that no step did."""

PREPARE, MATCH, MAPPING, COMPENSATION = "prepare:", "match:", "shape:", "undo:"
CALLBACK, WAIT = "callback:", "wait:"
LINGER = TaskToken("linger")
"""How tokens of tasks and timers begin; the token of an item has no prefix."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """One value of an attribute; the first of a name is its value, later ones are kept and shown."""

    value: Raw
    step: str = INIT
    set_at: Millis = Millis(0)


class ItemState(msgspec.Struct, omit_defaults=True):
    values: dict[str, Raw] = {}
    """Of the `for_each` arrays, by outer name."""
    place: int = 0
    """In the fan-out, before any item was dropped."""
    status: ItemStatus = "pending"
    started_at: Millis | None = None
    ended_at: Millis | None = None
    outputs: Raw = ABSENT
    returned: Raw = ABSENT
    """Raw outputs that a script has to map."""
    error: str = ""
    cause: ErrorInfo | str = ""
    """Why its child run failed; a sentence in snapshots of older versions."""
    attempts: int = 0
    """That have failed so far."""
    retry_at: Millis | None = None
    accepted_at: Millis | None = None
    accepted: int = 0
    """The attempt that was accepted, of an async call."""
    memo: bool = False
    rolled_back: bool = False
    """It was compensated with the whole run, not with its step alone."""
    round: int = 0
    """How often it was taken up again after the run had failed."""

    @property
    def open(self) -> bool:
        return self.status in OPEN


class FormerItem(msgspec.Struct, omit_defaults=True):
    """Work that was begun anew under another token. An answer to it is late; if its compensator failed for good, that
    can still be tried again."""

    step: str
    item: ItemState
    inputs: Raw = ABSENT
    """Of its step, by inner name."""


class StepState(msgspec.Struct, omit_defaults=True):
    status: StepStatus = "pending"
    started_at: Millis | None = None
    ended_at: Millis | None = None
    opened_seq: int = 0
    """The number of the first event of its start."""
    generation: int = 0
    """How often work of it was begun anew, under new tokens."""
    inputs: Raw = ABSENT
    """By inner name."""
    outputs: Raw = ABSENT
    error: str = ""
    reason: str = ""
    """Why it was skipped."""
    unsatisfied: list[str] = []
    total: int = 0
    """Items before any was dropped."""
    dropped: list[int] = []
    items: dict[str, ItemState] = {}
    """By token, in the order of the fan-out."""
    closed: list[str] = []
    """Optional inputs that are not waited for any more."""
    waits: dict[str, Millis] = {}
    """Optional inputs that are waited for, and until when."""
    matches: dict[str, dict[int, bool]] = {}
    """What `match` said of the candidates of an input."""

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
    """Work was under way when the run ended."""
    cut: bool = False
    """It was ended from outside, by a cancel, its deadline or a limit: what comes after that is late."""
    updated_at: Millis = Millis(0)
    attributes: dict[str, list[Value]] = {}
    steps: dict[str, StepState] = {}
    finished: list[str] = []
    """Tokens of items that succeeded, in the order in which they did."""
    former: dict[str, FormerItem] = {}
    """By their tokens."""
    seq: int = 0
    end_seq: int = 0
    """The number of the event that has its outcome."""


class StartData(msgspec.Struct, frozen=True, omit_defaults=True):
    """What travels in the start of a run: its plan, made before it."""

    plan: Plan
    parent_step: str = ""
    returns: list[str] = []
    """What the parent wants beside the outputs of the goals."""
    more: dict[str, list[Any]] = {}
    """Further values of names in init."""


# -- tokens ------------------------------------------------------------------------------------------------------------


def item_token(run_id: RunId, seed: int, step_id: str, place: int, generation: int = 0) -> str:
    """A UUID that follows from the seed drawn at the start: unguessable outside, the same in every replay. It is the
    idempotency key, so work that is begun anew has another."""
    whose = f"{run_id}\0{seed}\0{step_id}\0{place}" + (f"\0{generation}" if generation else "")
    digest = hashlib.blake2b(whose.encode(), digest_size=16).digest()
    bits = int.from_bytes(digest, "big") & ~(0xF << 76 | 3 << 62) | 8 << 76 | 2 << 62
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def compensation_token(token: str, round: int) -> TaskToken:
    """Work that was compensated, done again and has to be compensated once more is another task."""
    return TaskToken(f"{COMPENSATION}{token}:{round + 1}" if round else f"{COMPENSATION}{token}")


def compensated_item(token: str) -> str:
    """The item that a compensator is for."""
    return token.removeprefix(COMPENSATION).partition(":")[0]


def match_token(step_id: str, name: str, index: int) -> TaskToken:
    return TaskToken(f"{MATCH}{step_id}:{index}:{name}")


def match_parts(token: str) -> tuple[str, str, int]:
    """Step, name and index; a step's id has no colon, a name may have."""
    step_id, index, name = token.removeprefix(MATCH).split(":", 2)
    return step_id, name, int(index)


def wait_token(step_id: str, name: str) -> TaskToken:
    return TaskToken(f"{WAIT}{step_id}:{name}")
