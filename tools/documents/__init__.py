"""Documents: pages with provenance, found by meaning and by words."""
