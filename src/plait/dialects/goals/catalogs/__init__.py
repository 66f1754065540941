"""The catalog of a namespace: the steps registered there, their dependency graph, and their health.

pure     `Catalog` (steps and their `Graph`, in an `Order`) is folded from its events; `registering` checks changes to
         it, with `cycles`; `Cluster` is folded from what the nodes report
on disk  `Catalogs` keeps the catalogs of all namespaces in streams, `Health` what the nodes report of their steps
beside   `Checkups` checks the steps with a `Checker`
"""
