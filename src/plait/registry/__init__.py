"""The only place that knows all dialects. A new one is a package in `plait.dialects` and a line here."""
