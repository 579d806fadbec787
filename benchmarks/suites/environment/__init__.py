"""Tasks of environments."""
