"""The `goals` dialect: people register steps with typed inputs and outputs, then ask for an outcome.

What is here is pure: no store, no clock, no loop. Three roads lead through it:

    a step    `reading.read_step` (shape, defaults) -> `scripts.check_scripts` (a `Compiler` is plugged in)
    a change  `registering.register / update / unregister` (catalog, step) -> events; `Catalog.apply` folds them
    a run     `request.read_request` (goals, init) -> `planner.plan` (catalog, goals, init) -> `start.check_start`

`catalog.Catalog` keeps steps and the graph attribute -> providers, consumers up to date with each event. `builder.step`
is how Python programs declare steps. The run's machine, its tasks, the HTTP mount and the catalog's stream
stand on these and are found beside them.
"""
