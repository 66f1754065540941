"""Random catalogs and runs towards their goals, calm and in a storm."""
