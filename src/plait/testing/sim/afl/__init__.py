"""Random programs of `afl` in random weather."""
