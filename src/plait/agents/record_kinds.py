"""Kinds of the records that agents keep; also used by retention."""

from typing import Final

SPENDING: Final = "agent_spending"
"""What a process spent of a namespace's daily budget; the key starts with the day."""
USE: Final = "agent_use"
"""A use of a pipeline by a call; the key names both."""
