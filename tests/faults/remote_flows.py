"""Steps for worker processes that are killed: each notes in an outside ledger what it did, under which key."""

import asyncio
import os

from plait import Context, step, step_info, workflow

LEDGER = "PLAIT_TEST_LEDGER"


@step(queue="chaos", timeout=60)
async def effect(n: int) -> int:
    note(f"{n} {step_info().idempotency_key} python {step_info().attempt}")
    await asyncio.sleep(0.1)  # so that blows fall while it is under way
    return n


@workflow
async def crowd(ctx: Context, count: int) -> int:
    return sum(await asyncio.gather(*(ctx.step(f"e{n}", effect, n) for n in range(count))))


def note(line: str) -> None:
    with open(os.environ[LEDGER], "ab", buffering=0) as ledger:  # one write: lines of several processes don't mix
        ledger.write(f"{line}\n".encode())
