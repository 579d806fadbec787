"""The web: finds pages with a search engine."""
