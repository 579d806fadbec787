"""Roles of FuRePA and IRCoT."""
