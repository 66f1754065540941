"""A tea shop, written like users' own projects: modules of workflows and steps, using only public names.

`plait dev` and `plait demo` load these modules by name, like any others.
"""
