"""What the web UI takes: bytes, time to the first picture of a big run, smoothness while it is moved."""
