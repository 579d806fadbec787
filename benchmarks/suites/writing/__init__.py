"""Long texts."""
