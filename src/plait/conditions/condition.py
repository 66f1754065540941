"""A compiled condition: a pure, bounded function that can be evaluated any number of times, from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from plait.kernel.values import Json

from . import verdict
from .budget import Budget
from .facts import EMPTY, Facts, SandboxCall, at_a_node
from .test import SandboxWanted, Test
from .verdict import Verdict


class Sandbox(Protocol):
    """Runs untrusted code."""

    async def evaluate(self, call: SandboxCall, output: Json, context: Mapping[str, Any]) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class Condition:
    type: str
    source: Raw
    """Canonical JSON, with references replaced by their texts: it compiles to the same again, without their blobs."""
    reads: frozenset[str]
    """Nodes whose record it reads from `ctx`."""
    reads_all: bool
    """Whether it may read any node: then pass the records of all that ran."""
    needs_task: bool
    """It contains a `python_sandbox`, and never runs inside a decision."""
    test: Test

    def evaluate(
        self,
        output: Json = None,
        ctx: Mapping[str, Any] = EMPTY,
        input: Json = None,
        *,
        metadata: Mapping[str, Any] = EMPTY,
        node: str = "",
    ) -> Verdict:
        """Evaluates it at a node that just finished: `metadata` and `node` are its own, `ctx` holds the records of
        earlier ones."""
        return self.judge(at_a_node(output, ctx, input, metadata, node))

    def judge(self, facts: Facts) -> Verdict:
        """Evaluates it on any facts, such as those that a policy sees. Never raises."""
        try:
            return self._verdict(facts)
        except SandboxWanted:
            message = "this condition runs Python, which needs a sandbox; evaluate it as a task of the kind `condition`"
            return verdict.failed("sandbox_unavailable", message)

    async def judge_in(self, sandbox: Sandbox, facts: Facts) -> Verdict:
        """Like `judge`, with a sandbox for its Python code, and off the event loop.

        Evaluation restarts with each answer, which is safe because it has no effects.
        """
        answers = dict(facts.answers)
        while True:
            try:
                known = msgspec.structs.replace(facts, answers=answers)
                return await asyncio.to_thread(self._verdict, known)
            except SandboxWanted as wanted:
                answers[wanted.call] = await sandbox.evaluate(wanted.call, facts.output, facts.nodes)

    def _verdict(self, facts: Facts) -> Verdict:
        try:
            return self.test.verdict(facts, Budget())
        except RecursionError:  # values from outside can't be nested this deeply
            return verdict.failed("budget", "the values are nested too deeply")
