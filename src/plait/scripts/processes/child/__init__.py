"""Runs only in script processes, for any language.

It is started by path in an isolated interpreter, so it imports only the standard library, and nothing of the engine.
`main` reads a request, runs it with the language's `Interpreter`, answers, and lets it prepare for the next. The engine
knows this package only by its files and its frames.
"""
