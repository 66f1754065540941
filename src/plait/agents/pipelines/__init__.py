"""Data pipelines: one to fifty steps, each fed by the one before it. Deterministic except for `http_request`.

    read (all flaws, before anything runs) ──> steps ──> execution: step by step, the first error stops

`tables`, `grouping`, `joining`, `extraction` and `dates` are pure functions of rows; all I/O is passed in with
the execution.
"""
