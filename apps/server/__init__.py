"""The server for many users: the LangGraph server's protocol over a table of runs."""
