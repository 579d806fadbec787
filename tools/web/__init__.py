"""The web: pages that a search engine finds."""
