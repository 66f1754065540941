"""From goals and what is given to the steps that are needed. Pure: preview and start plan alike."""
