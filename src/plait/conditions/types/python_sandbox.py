"""`python_sandbox`: a Python function, for tests that no expression can state. It runs in a sandbox, as a task."""

from __future__ import annotations

from plait.conditions.budget import Budget
from plait.conditions.facts import Facts, SandboxCall
from plait.conditions.python_code import MAX_CODE, BadCode, check_function
from plait.conditions.source import Source
from plait.conditions.test import Reads, SandboxWanted
from plait.conditions.verdict import Verdict


class SandboxTest:
    reads = Reads(every_node=True)

    def __init__(self, call: SandboxCall) -> None:
        self._call = call

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        found = facts.answers.get(self._call)
        if found is None:
            raise SandboxWanted(self._call)
        return found


def read(source: Source) -> SandboxTest | None:
    source.allow("code", "code_ref", "timeout_ms", "max_memory_mb")
    timeout = source.number("timeout_ms", 1_000, 10_000)
    memory = source.number("max_memory_mb", 50, 512)
    code = source.content("code")
    if not isinstance(code, str):
        return None
    size = len(code.encode(errors="replace"))
    if size > MAX_CODE:
        source.refuse(f"condition has code of {size:,} bytes, limit {MAX_CODE:,}", at="code", code="too_big")
        return None
    try:
        check_function(code, "evaluate", 2)
    except BadCode as error:
        where = f"line {error.line}: " if error.line else ""
        fix = "write `def evaluate(output, context):`, which returns True or False"
        source.refuse(f"invalid condition: {where}{error.message}", fix, at="code", code="syntax")
        return None
    return SandboxTest(SandboxCall(code, timeout, memory))
