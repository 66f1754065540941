"""Random `refs` workflows, calm and in a storm."""
