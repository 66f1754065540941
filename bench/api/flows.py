"""What the server runs under load. Steps note in a file that they ran: a witness that no crash takes back."""

from __future__ import annotations

import os

from plait import Context, step, workflow

LEDGER = "PLAIT_BENCH_LEDGER"
STEPS = ("reserve", "charge", "ship")
BEAT = 1.0
"""Seconds between the steps of a run that is watched."""

_ledger = os.open(os.environ.get(LEDGER, os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


@step
async def note(name: str, number: int) -> int:
    os.write(_ledger, f"{number} {name}\n".encode())
    return number


@workflow
async def three(ctx: Context, number: int) -> int:
    """Three steps, one after the other."""
    for name in STEPS:
        await ctx.step(name, note, name, number)
    return number


@step
async def beat(number: int) -> int:
    return number


@workflow
async def pulse(ctx: Context, beats: int) -> int:
    """A step every second: something to watch."""
    for number in range(beats):
        await ctx.step(f"beat-{number}", beat, number)
        await ctx.sleep(f"rest-{number}", BEAT)
    return beats
