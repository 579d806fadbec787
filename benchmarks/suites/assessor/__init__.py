"""The plan assessor."""
