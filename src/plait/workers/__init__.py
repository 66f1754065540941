"""Workers: what runs tasks."""
