"""What a run of a graph costs: tokens a second, the time of a hop, and a wide join."""
