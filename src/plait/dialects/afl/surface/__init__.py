"""What the dialect adds to the command line, to the HTTP API and to editors."""
