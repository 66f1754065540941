"""From goals and init to the steps that are needed. Pure: preview and start share it."""
