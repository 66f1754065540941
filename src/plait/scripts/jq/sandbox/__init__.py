"""The jq code that runs in a script process; see `plait.scripts.processes.child`."""
