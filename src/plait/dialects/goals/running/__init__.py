"""A run towards its goals: the machine that decides, and the work that it requests."""
