"""A run of a graph: its state, what each input comes to, and how people see it."""
