"""Pipelines that agents used often enough become tools of their namespace, once, with their own name.

`promotable` says which may, `tool_log` is the log of a namespace, `promotions` counts uses and writes it,
`promoted_tools` offers them to agents, and `tool_list` is `engine.tools`.
"""
