"""`plait demo`: a few runs, an engine that is killed in the middle of them, and their recovery.

The engine is a real process of its own, killed with SIGKILL. The demo itself only looks and tells, through the
database, as every `plait` command does.
"""
