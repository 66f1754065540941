"""What the dialect adds to the HTTP API, the command line and the client, which alone import it."""
