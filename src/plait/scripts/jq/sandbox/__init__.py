"""jq's side of a process for scripts; see `plait.scripts.processes.child`."""
