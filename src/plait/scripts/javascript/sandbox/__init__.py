"""Runs only in worker processes: one QuickJS context for each call, in a process that can be killed.

It is loaded by path by `plait.scripts.processes.child`, so it imports the standard library and `_quickjs` only, and
nothing of the engine. There is no module loader, so no import can succeed; QuickJS names the module of a script
`<input>`, by which `prelude.js` finds its default export.
"""
