"""What a step writes: on an empty database, and beside many runs that have ended."""
