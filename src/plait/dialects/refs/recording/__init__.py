"""Recording tool calls as steps, and turning them into a workflow: all of it pure."""
