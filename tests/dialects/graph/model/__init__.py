"""Random graphs, played on the machine and on a small interpreter that shares no code with it."""
