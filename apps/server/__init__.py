"""The server for many users: the LangGraph server's protocol, with a table of runs."""
