"""What opens and closes a run of every method."""
