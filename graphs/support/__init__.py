"""Shared by the methods: the builder, edges, parts, the registry, running. It has no methods."""
