"""What the methods share: the builder, edges, parts, the registry, running. No methods."""
