"""A compiled program as the machine reads it: declarations, blocks and statements, indexed once."""
