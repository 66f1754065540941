"""Workers: the parts that execute tasks."""
