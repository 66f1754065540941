"""Testing workflows: virtual time, deliberate crashes, and assertions on the recorded history.

async with sim([order]) as s:
    run = await s.start(order, {"sku": "tea"})
    await s.clock.advance(3600)
    await s.crash()
    assert await s.result(run) == {"paid": True}      # a sleep of 30 days takes no time

report = asyncio.run(survives_every_crash(order, {"sku": "tea"}))
"""

from .clock import VirtualClock
from .crashes import CrashFailure, Report, survives_every_crash
from .driver import DriverFailed, MemoryDriver
from .effects import Effect, Effects
from .history import History, history
from .scripted_model import ScriptedModel
from .sim import Sim, SimRun, StuckError, sim

__all__ = [
    "CrashFailure",
    "DriverFailed",
    "Effect",
    "Effects",
    "History",
    "MemoryDriver",
    "Report",
    "ScriptedModel",
    "Sim",
    "SimRun",
    "StuckError",
    "VirtualClock",
    "history",
    "sim",
    "survives_every_crash",
]
