"""The `goals` dialect: people register steps with typed inputs and outputs, then ask for an outcome.

    steps/      what people write: read, checked, its scripts found; and how Python programs declare it
    catalogs/   what is registered in a namespace: a stream of events, folded; how the steps are
    planning/   from goals and what is given to the steps that are needed; pure, the same for preview and start
    running/    the machine of a run: pure, it decides; `hands` is what it lets others do
    hands/      those others: scripts, HTTP, Python functions, memo

`dialect.GoalsDialect` is what the kernel sees, `definition.goals` what callers start.
"""
