"""Questions to documents and tables, for the strategy agents."""
