"""A step as written by people, checked and parsed into one shape."""
