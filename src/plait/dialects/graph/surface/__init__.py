"""What the dialect adds to the HTTP API and the command line, which alone import it."""
