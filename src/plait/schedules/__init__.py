"""Computes when a schedule is due and the outcome of each time. Pure: the engine stores schedules and starts runs."""
