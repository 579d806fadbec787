"""The form of prompts."""
