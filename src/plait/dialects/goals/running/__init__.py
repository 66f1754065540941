"""A run towards its goals: the machine that decides, and what it lets others do."""
