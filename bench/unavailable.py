"""The one error that leaves a subject out of the bench instead of ending it."""

from __future__ import annotations


class UnavailableError(Exception):
    """Something a subject needs is not to be had here; the message says what and why."""
