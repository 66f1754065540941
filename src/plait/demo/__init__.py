"""A tea shop, written as users write theirs: modules of workflows and steps, on public names alone.

`plait dev` and `plait demo` load these modules by name, like any others.
"""
