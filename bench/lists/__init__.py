"""Lists of runs in a large database: how long they take, and what they cost those who write."""
