"""Kinds of the records that agents keep, for those who trim them too."""

from typing import Final

SPENDING: Final = "agent_spending"
"""What a process spent of a namespace's budget in a day, named by the day first."""
USE: Final = "agent_use"
"""That a call used a pipeline, named by both."""
