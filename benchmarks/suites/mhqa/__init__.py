"""Multi-hop questions."""
