"""Random workflows of `refs` in random weather."""
