"""A step: what people write, checked and read into one shape."""
