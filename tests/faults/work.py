"""What the engine processes of these tests run, and the ledger that their steps write: a file no crash takes back."""

import asyncio
import itertools
import os
import signal
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from plait import Context, step, step_info, workflow

LEDGER = "PLAIT_TEST_LEDGER"
FREEZE_AFTER = "PLAIT_TEST_FREEZE_AFTER"
"""Steps after which a process freezes itself, if set: whoever kills it then surely kills it at work."""
QUEUE = "chaos"


_noted = itertools.count(1)


@dataclass(frozen=True)
class Entry:
    """A step began: written with one append, so that lines of several processes never mix."""

    path: str
    key: str
    attempt: int
    pid: int
    at: int
    """Nanoseconds, by a clock that all processes share."""

    @property
    def run_id(self) -> str:
        return self.path.partition("/")[0]


def note() -> None:
    """Into the ledger; and on standard output, so that a test can wait for it."""
    info = step_info()
    path = f"{info.run_id}/{info.path}"
    _append(
        os.environ[LEDGER], f"{path}\t{info.idempotency_key}\t{info.attempt}\t{os.getpid()}\t{time.monotonic_ns()}\n"
    )
    os.write(1, f"step {path}\n".encode())
    if next(_noted) == int(os.environ.get(FREEZE_AFTER, 0)):
        os.kill(os.getpid(), signal.SIGSTOP)


def note_time() -> None:
    """That the step is at work now, into a file beside the ledger, by a clock that all processes share."""
    _append(f"{os.environ[LEDGER]}.times", f"{step_info().run_id}\t{time.monotonic_ns()}\n")


def spans(ledger: Path) -> dict[str, tuple[int, int]]:
    """Of each run that noted times: the first and the last of them."""
    found: dict[str, list[int]] = defaultdict(list)
    for line in Path(f"{ledger}.times").read_text().splitlines():
        run_id, at = line.split("\t")
        found[run_id].append(int(at))
    return {run_id: (min(times), max(times)) for run_id, times in found.items()}


def _append(path: str, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def entries(ledger: Path) -> list[Entry]:
    whole, _, _ = ledger.read_text().rpartition("\n")  # the last line may be under way
    parts = [line.split("\t") for line in whole.splitlines()]
    return [Entry(path, key, int(attempt), int(pid), int(at)) for path, key, attempt, pid, at in parts]


def keys_by_step(ledger: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for entry in entries(ledger):
        found[entry.path].add(entry.key)
    return found


@step
async def add(left: int, right: int) -> int:
    note()
    await asyncio.sleep(0)
    return left + right


@step
def add_in_a_thread(left: int, right: int) -> int:
    note()
    return left + right


@workflow
async def summing(ctx: Context, number: int) -> int:
    """Adds 5 in steps of one: in sequence, side by side, in a thread, and after a sleep."""
    total = await ctx.step("first", add, number, 1)
    both = await ctx.join("both", left=lambda c: c.step("add", add, 1, 0), right=lambda c: c.step("add", add, 1, 0))
    total += both.left + both.right
    await ctx.sleep("nap", 0.02)
    total = await ctx.step("thread", add_in_a_thread, total, 1)
    return await ctx.step("last", add, total, 1)


STEPS_OF_SUMMING = ("first", "both/left/add", "both/right/add", "thread", "last")


@step
async def carry(left: int, right: int) -> int:
    note()
    await asyncio.sleep(0.3)
    return left + right


@step(queue=QUEUE, timeout=60)
async def carry_on_a_worker(left: int, right: int) -> int:
    note()
    await asyncio.sleep(0.3)
    return left + right


@workflow
async def carrying(ctx: Context, number: int) -> int:
    """Adds 5 as well, in steps that take their time: whoever is killed has some of them under way."""
    total = await ctx.step("first", carry, number, 1)
    total = await ctx.step("worker", carry_on_a_worker, total, 1)
    both = await ctx.join("both", left=lambda c: c.step("add", carry, 1, 0), right=lambda c: c.step("add", carry, 1, 0))
    await ctx.sleep("nap", 0.02)
    return await ctx.step("last", carry, total + both.left + both.right, 1)


STEPS_OF_CARRYING = ("first", "worker", "both/left/add", "both/right/add", "last")


@workflow
async def waiting(ctx: Context) -> str:
    """Under way until someone tells it to go on."""
    message = await ctx.listen("go")
    return f"went {message.body if message is not None else 'nowhere'}"


@step(max_attempts=5)
async def exit_the_process() -> None:
    note()
    os._exit(77)


@workflow
async def deadly(ctx: Context) -> None:
    await ctx.step("die", exit_the_process)


@step(timeout=None)
async def hang() -> None:
    note()
    await asyncio.Event().wait()


@workflow
async def hanging(ctx: Context) -> None:
    await ctx.step("hang", hang)


@step
async def occupy() -> None:
    note()
    note_time()
    await asyncio.sleep(0.02)
    note_time()


@workflow
async def occupying(ctx: Context) -> None:
    """Holds whatever it was given for a moment."""
    await ctx.step("occupy", occupy)


DEFINITIONS = [summing, carrying, waiting, deadly, hanging, occupying]
