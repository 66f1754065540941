"""AFL: programs checked, and runs of them."""
