"""What runs in a worker process, and nowhere else: one Lua state for each script, in a process that can be killed.

It is loaded by path by `plait.scripts.processes.child`, so it imports the standard library and `lupa` only, and nothing
of the engine. `interpreter` runs a request in a state that was made for it, and then makes the next state.
"""
