"""The `graph` dialect: tokens that travel through a graph of nodes."""
