"""What runs in a worker process, and nowhere else: one Lua state for each script, in a process that can be killed.

It is started on its own, by path, in an isolated interpreter, so it imports the standard library and `lupa` only,
and nothing of the engine. `main` reads a request, runs it in a state that was made for it, answers, and makes the
next state. The engine knows this package by its files and by the frames that it speaks.
"""
