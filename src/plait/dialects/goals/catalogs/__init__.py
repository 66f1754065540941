"""The catalog of a namespace: the steps that are registered there, how they hang together, and how they are.

pure     `Catalog` (steps and their `Graph`, in an `Order`) is folded from its events; `registering` checks changes to
         it, with `cycles`; `Cluster` is folded from what the nodes tell
on disk  `Catalogs` keeps those of all namespaces in streams, `Health` what the nodes tell of their steps
beside   `Checkups` looks after the steps with a `Checker`
"""
