"""How long the catalog and the planner of the `goals` dialect take."""
