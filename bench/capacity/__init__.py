"""What a run, a step, a label and a parked run take in a database."""
