"""Decision QA."""
