"""What runs in a process for scripts, whatever their language, and nowhere else.

It is started on its own, by path, in an isolated interpreter, so it imports the standard library only, and nothing of
the engine. `main` reads a request, has the language's `Interpreter` run it, answers, and lets it prepare for the next.
The engine knows this package by its files and by the frames that it speaks.
"""
