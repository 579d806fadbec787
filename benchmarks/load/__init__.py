"""The server under load, beside a bare loop."""
