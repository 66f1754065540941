"""What the dialect adds to the HTTP API and the command line. Imported by those alone."""
