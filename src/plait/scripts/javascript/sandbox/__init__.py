"""What runs in a worker process, and nowhere else: one QuickJS context for each call, in a process that can be killed.

It is loaded by path by `plait.scripts.processes.child`, so it imports the standard library and `_quickjs` only, and
nothing of the engine. There is no module loader, so that no import can succeed; QuickJS gives the module of a script
the name `<input>`, by which `prelude.js` finds its default export.
"""
