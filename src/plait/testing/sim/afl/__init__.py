"""Random `afl` programs, calm and in a storm."""
