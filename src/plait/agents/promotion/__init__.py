"""Pipelines that agents use often enough become tools of their namespace, once, with a name of their own.

`promotable` decides which may, `tool_log` folds the log of a namespace, `promotions` counts uses and writes the log,
`promoted_tools` offers the tools to agents, and `tool_list` is `engine.tools`.
"""
