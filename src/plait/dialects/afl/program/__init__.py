"""A compiled program as the machine uses it: declarations, blocks and statements, indexed once."""
