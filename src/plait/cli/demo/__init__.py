"""`plait demo`: a few runs, an engine that is killed in the middle of them, and their recovery.

The engine is a real, separate process, killed with SIGKILL. The demo itself only inspects and controls runs through the
database, as every `plait` command does.
"""
