"""The state of a run of a graph: all that its events say, as one structure that a snapshot stores."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.values import ABSENT, NULL

TIMEOUT, WAIT, CALLBACK, THROTTLE = "~timeout:", "~wait:", "~callback:", "~throttle:"
"""Timer prefixes: of an approval, of a node that waits, of a result that others report, of a held back token."""


class GraphStart(msgspec.Struct, frozen=True, omit_defaults=True):
    """The dialect's part of `run.started`."""

    wf_version: str
    entry_nodes: tuple[str, ...]
    counter_after: int
    definition: Raw
    ir_hash: str = ""
    revision: int = 1


class Token(msgspec.Struct, omit_defaults=True, gc=False):
    """A token. Mutable, like all of the state, because one is created for every hop."""

    id: str
    node: str
    origin: str
    """The node that emitted it; empty at the entry."""
    payload: Raw
    hop: int
    at: Millis
    loops: dict[str, int] = {}
    """Iterations of loops whose body holds the node, except those in their first."""
    back: bool = False
    """Whether it came along the back-edge of a loop."""
    parked: bool = False
    """Whether it waits at a join that has not fired."""


class Execution(msgspec.Struct, omit_defaults=True, gc=False):
    """A node's work on one token, or on those that a join took."""

    id: str
    """The id of its first token."""
    node: str
    tokens: list[str]
    payload: Raw
    hop: int
    started_at: Millis
    loops: dict[str, int] = {}
    generation: int = 0
    """The number of times it was retried as a dead letter."""
    dead: bool = False
    error: ErrorInfo | None = None
    attempts: int = 0
    """The number of attempts that are over."""
    child: int = 1
    """For a child run, the number of its latest attempt; each attempt is another run."""
    accepted: int = 0
    """The attempt that others have accepted, and will report."""
    output: Raw = ABSENT
    """Set when the work is done; where to go on is being judged."""
    chosen: list[str] | None = None
    reasoning: str = ""
    """The targets that the node itself chose, and why."""
    verdicts: dict[str, Judgement] = {}
    """Verdicts of conditions that a task judged, by their pointers."""
    until: Millis | None = None
    message: str = ""
    waiting: bool = False
    """Whether it waits: for a time, a message or an approval, or because it is held back."""
    due: Millis = Millis(0)
    """When a throttled run lets it start."""
    held: bool = False
    """Whether it is held back until then."""
    approved: bool = False

    @property
    def task(self) -> TaskToken:
        if self.generation:
            return TaskToken(f"{self.id}~{self.generation}")
        return self.id  # pyright: ignore[reportReturnType] # without the call that would say so: most are as this

    @property
    def retrying(self) -> bool:
        """Whether its child run failed, and the next one starts when it is due."""
        return self.attempts >= self.child and not self.output

    def iteration(self) -> int:
        return self.loops.get(self.node, 1)


class Judgement(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The verdict of a condition; `code` and `message` if there was a problem."""

    value: bool = False
    code: str = ""
    message: str = ""
    soft: bool = False
    """Whether the problem is only noted, with the verdict false: a node that has not run."""


class OpenApproval(msgspec.Struct, omit_defaults=True, gc=False):
    id: str
    """The token that the kernel knows it by."""
    node: str
    token: str
    payload: Raw
    title: str
    hop: int
    at: Millis
    loops: dict[str, int] = {}
    approvers: list[str] = []
    timeout_at: Millis | None = None
    evidence_hash: str = ""
    before: bool = False
    """Whether the node runs after the approval, so that its token is not consumed."""
    judged: dict[str, str] = {}
    """A policy server's verdict for each target: empty, or why it denies it."""


class NodeRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """The last success of a node, and the number of its runs."""

    output: Raw = NULL
    completed_at: Millis = Millis(0)
    duration_ms: int = 0
    attempt: int = 1
    iteration: int = 1
    executions: int = 0
    ends_path: bool = False
    """Whether its last settle emitted nothing."""
    payload: Raw = NULL
    started_at: Millis = Millis(0)
    decision: Raw = ABSENT
    """The choice of an agent: `{next_nodes, reasoning}`."""


class Done(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A success that can be compensated."""

    id: str
    node: str
    input: Raw
    output: Raw


class PathStep(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True, gc=False):
    token: str
    node: str
    origin: str
    hop: int
    iteration: int
    at: Millis


class Choice(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The last choice of a branch, to explain why other nodes were not reached."""

    via: str
    targets: tuple[str, ...]


class GraphState(msgspec.Struct, omit_defaults=True):
    definition: Raw
    """The current definition, with patches applied."""
    input: Raw
    wf_version: str
    started_at: Millis
    seq: int = 1
    revision: int = 1
    counter: int = 0
    emitted: int = 0
    """The number of tokens ever emitted."""
    free_from: float = 0
    """When a throttled run lets the next token go on."""
    scanned: int = 0
    """Bytes of payloads given to nodes."""
    tokens: dict[str, Token] = {}
    executions: dict[str, Execution] = {}
    approvals: dict[str, OpenApproval] = {}
    context: dict[str, NodeRecord] = {}
    messages: dict[str, list[Raw]] = {}
    arrivals: dict[str, int] = {}
    """Node -> the number of the event with which its last token arrived."""
    done: list[Done] = []
    path: list[PathStep] = []
    choices: dict[str, Choice] = {}
    added_agents: int = 0
    """The number of agents that patches by agents have added."""
    patches: list[int] = []
    """Numbers of the events that changed the graph: patches, migrations, forks with another graph."""
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    error: ErrorInfo | None = None
    end_seq: int = 0
    fork_seq: int = 0
    """In a fork, the number of the event that made it one."""
    forked_at: Millis = Millis(0)
    rolled_back: list[str] = []
    """Compensators that have run."""


def token_id(run: str, parent: str, target: str, index: int) -> str:
    return hashlib.blake2b(f"{run}\0{parent}\0{target}\0{index}".encode(), digest_size=8).hexdigest()
