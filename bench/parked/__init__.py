"""Runs that wait, a million of them: what an engine pays to start beside them, and to wake one."""
