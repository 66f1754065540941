"""Runs only in worker processes: one Lua state for each script, in a process that can be killed.

It is loaded by path by `plait.scripts.processes.child`, so it imports the standard library and `lupa` only, and nothing
of the engine. `interpreter` runs a request in a fresh state, and then creates the next state.
"""
