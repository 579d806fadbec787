"""Facts hidden in long texts."""
