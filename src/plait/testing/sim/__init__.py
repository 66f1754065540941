"""`sim()`: an engine on virtual time. `python -m plait.testing.sim` puts thousands of them under stress."""

from .simulator import Sim, SimRun, SimulatedCrash, StuckError, sim

__all__ = ["Sim", "SimRun", "SimulatedCrash", "StuckError", "sim"]
