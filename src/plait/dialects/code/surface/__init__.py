"""What the dialect adds to the command line: its part of the common commands."""
