"""What people write as a graph, and what it is compiled to: pure, without an engine."""
