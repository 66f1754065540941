"""Random graphs and their runs, calm and in a storm."""
