"""The `plait` command. One file a command group; `main` has the list of contents and loads a file when it is needed."""
