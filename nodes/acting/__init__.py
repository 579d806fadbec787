"""Roles of the methods that act in environments."""
