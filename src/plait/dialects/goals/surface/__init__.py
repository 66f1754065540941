"""What the dialect adds to the command line: `plait catalog`, `plait plan`, and its part of the common commands."""
