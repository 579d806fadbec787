"""Roles and tools of the methods that decide or answer step by step."""
