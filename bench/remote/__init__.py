"""Remote workers: how long a task takes by way of a queue, and how many get done."""
