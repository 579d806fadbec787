"""The doors: command line and chat app."""
