"""Runs of the dialect: what each input comes to, as pure functions of the state."""
