"""The command line of a subject: one work, one phase, one line of JSON out.

The process leaves without tidying up. Half the works kill it anyway, and neither a run that sleeps for a day nor a
driver's thread must keep it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TextIO

from bench.sizes import Sizes
from bench.subjects import works
from bench.subjects.engine import GATE, Engine
from bench.works import Measures

Phase = Literal["measure", "hold", "resume"]
Perform = Callable[["Order"], Awaitable[Measures]]


@dataclass(frozen=True)
class Order:
    """What the bench asks of a subject process."""

    work: str
    phase: Phase
    target: str
    """The database url, or a folder for an engine that keeps files of its own."""
    sizes: Sizes


def run_engine(version: str, make: Callable[[str], Engine]) -> None:
    """The main function of a subject that is an engine, made for a target."""

    async def perform(order: Order) -> Measures:
        engine = make(order.target)
        if order.phase == "resume":
            return await works.resume(engine, order.work, order.sizes)
        GATE.open = order.phase != "hold"
        await engine.open()
        if order.phase == "hold":
            await works.hold(engine, order.work, order.sizes)
            return {}
        return await works.measure(engine, order.work, order.sizes)

    run_script(version, perform)


def run_script(version: str, perform: Perform) -> None:
    report = _take_stdout()
    order = _parse(sys.argv[1:])

    async def main() -> None:
        try:
            measures = await perform(order)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        print(json.dumps({"version": version, "measures": measures}), file=report, flush=True)
        if order.phase == "hold":
            await asyncio.Event().wait()
        os._exit(0)

    _loop_runner()(main())


def _loop_runner() -> Callable[[Awaitable[None]], None]:
    import uvloop  # every environment has it, so that the event loop is the same for all

    return uvloop.run  # pyright: ignore[reportReturnType]


def _take_stdout() -> TextIO:
    """Keep the real standard output for the report; whatever else prints goes to standard error."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return report


def _parse(arguments: list[str]) -> Order:
    parser = argparse.ArgumentParser(description="one work on one subject; started by python -m bench")
    parser.add_argument("--work", required=True)
    parser.add_argument("--phase", required=True, choices=("measure", "hold", "resume"))
    parser.add_argument("--target", required=True)
    parser.add_argument("--sizes", required=True)
    options = parser.parse_args(arguments)
    return Order(options.work, options.phase, options.target, Sizes.from_json(options.sizes))
