"""The `plait` command. One file per command group; `main` lists them and loads a file when it is needed."""
