"""The business rules as code: what a decision does to a database, and worlds to decide in."""
