"""The `goals` dialect: plan backwards over a catalog of steps, run what is needed.

steps/      what a step is, how it is read, built in Python and checked
catalogs/   the steps of a namespace, kept in a stream, and their health
planning/   from goals and init to a plan
running/    the machine of a run: pure, it decides; `tasks` is all that it asks others to do
executors   the kinds of tasks that only this dialect has; `memo` is one more
"""
