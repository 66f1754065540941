"""What the loop of agents costs: `python -m bench.agents`."""
