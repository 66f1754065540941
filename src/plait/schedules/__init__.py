"""When something is due, and what becomes of each time: pure. The engine keeps schedules and starts their runs."""
