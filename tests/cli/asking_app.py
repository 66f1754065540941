"""The same question to a person in every dialect, for tests that start `plait` on a module."""

from plait import Context, graph, refs, workflow
from plait.catalog import catalog_step


@workflow
async def asking(ctx: Context) -> str:
    verdict = await ctx.approve("boss")
    return verdict.comment


asking_graph = graph(
    {
        "name": "asking-graph",
        "nodes": [{"id": "boss", "type": "human", "human_config": {"title": "Fine?", "timeout_hours": None}}],
        "edges": [],
    }
)
asking_refs = refs({"id": "asking-refs", "steps": [{"name": "ask", "action": {"workflow": "asking"}}]})
allow = catalog_step("allow").output("comment", str).run("code", "asking_goal")


@workflow
async def asking_goal(ctx: Context, given: dict[str, object] | None = None) -> dict[str, str]:
    return {"comment": (await ctx.approve("boss")).comment}
